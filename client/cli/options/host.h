/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * -H HOST: whose daemon to ask. With two windows to compare it may be given twice, for the old and
 * the new one, in any place of the command line; "." is this machine.
 */
#pragma once

#include "client/cli/options/options.h"
#include "client/source/window-ref.h"
#include "common/util/fault.h"

/* -EINVAL and @fault. */
int options_host_add(struct options *options, const char *host, struct fault *fault);

/* Whether the windows have use for it; @other is @ref if there is one. -EINVAL and @fault. */
int options_host_check(const struct options *options, const struct window_ref *ref,
		       const struct window_ref *other, struct fault *fault);

/* Sets the sockets of both sides. -EINVAL or -ENOMEM, and @fault. */
int options_host_set_sockets(struct options *options, struct fault *fault);

void options_host_done(struct options *options);
