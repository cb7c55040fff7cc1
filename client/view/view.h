/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views of a profile. Each is a pure function, in a header of this folder, from a finalized
 * profile to rows, hottest first. Ties are broken by name or location, so that equal profiles have
 * equal rows in equal order.
 */
#pragma once

#include "common/profile/profile.h"

enum view_by {
	VIEW_FUNCTION,
	VIEW_STACK,
	VIEW_STREAM,
	VIEW_BRANCH,      /* by pairs of functions */
	VIEW_BRANCH_SITE, /* by pairs of instructions */
	VIEW_BLOCK,
	VIEW_LINE,
	VIEW_OBJECT,
	VIEW_PROCESS,
	VIEW_UNIT,
	VIEW_COMM,
	VIEW_CONTAINER,
	VIEW_USER,
	VIEW_HOST, /* of a cluster alone */
	N_VIEWS,
};

/* The word for --by, and back: -EINVAL for other words. */
const char *view_name(enum view_by by);
int view_parse(enum view_by *ret, const char *name);

/* Negative, 0 or positive, as for qsort(). */
int view_compare_locations(struct location a, struct location b);

/* Whether @at is code of the kernel or of a module. */
bool view_is_kernel(const struct profile *profile, struct location at);

/* The start of the function at @at; @at itself without a function. */
struct location view_function_start(const struct profile *profile, struct location at);
