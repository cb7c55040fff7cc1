/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `branchctl top` on a terminal: what is hot now, updated every second. */
#pragma once

#include "client/term/color.h"
#include "client/top/top.h"
#include "common/profile/filter.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"

/* The view at the start. The strings are borrowed. */
struct live_settings {
	const char *socket;
	const char *host; /* where that is; NULL: here */
	struct symbolizer_settings symbols;
	struct profile_filter filter;
	struct top_settings top;
	size_t order; /* of the rows, see top-order.h */
	enum color_mode color;
};

/* Returns when the user quits. -errno and @fault if it cannot start. */
int live_run(const struct live_settings *settings, struct fault *fault);
