/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The argument of --format, whose words depend on the command. */
#pragma once

#include "client/cli/options/options.h"
#include "common/util/fault.h"

/* @format is NULL if it was not given. 0, or -EINVAL and @fault. */
int options_parse_format(struct options *options, const char *format, struct fault *fault);
