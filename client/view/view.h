/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views: what a profile can be shown by. Each is a pure function from a sealed profile to rows,
 * hottest first, in view-*.h; a tie is broken by name or place, so that equal profiles give equal
 * rows in equal order.
 */
#pragma once

#include "common/profile/profile.h"

enum view_by {
	VIEW_FUNCTION,
	VIEW_STACK,
	VIEW_STREAM,
	VIEW_BRANCH,
	VIEW_BLOCK,
	VIEW_LINE,
	VIEW_OBJECT,
	VIEW_PROCESS,
	VIEW_UNIT,
	N_VIEWS,
};

/* The word that --by takes, and back: -EINVAL where there is no such view. */
const char *view_name(enum view_by by);
int view_parse(enum view_by *ret, const char *name);

/* Orders places; 0 for the same one. */
int view_compare_locations(struct location a, struct location b);

/* Where the function begins that @at lies in; @at itself where there is none. */
struct location view_function_start(const struct profile *profile, struct location at);
