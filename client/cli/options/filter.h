/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options that filter. Each is a list, and the lists of an option that is repeated are one. */
#pragma once

#include "client/cli/options/options.h"
#include "common/util/fault.h"

/* 0; -ENOENT if @key is none of them; -EINVAL or -ENOMEM, and a fault. */
int options_filter_apply(struct options *options, int key, const char *argument,
			 struct fault *fault);

void options_filter_done(struct options *options);
