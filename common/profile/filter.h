/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A part of a profile: the processes, objects and functions somebody asked for.
 */
#pragma once

#include "common/profile/profile.h"

/* Any field NULL, or -1, or n_ = 0: not asked for. Several conditions must all hold. */
struct profile_filter {
	int64_t pid;
	int64_t uid;
	const char *comm;   /* exactly */
	const char *unit;   /* exactly, or without ".service" */
	const char *object; /* the path, or its last component */
	const char *symbol; /* the demangled name, or the part of it before its '(' */
};

#define PROFILE_FILTER_INIT ((struct profile_filter){ .pid = -1, .uid = -1 })

/*
 * *@ret is a new sealed profile of what @filter keeps of the sealed @profile. Process conditions
 * keep a process with all it has; object and symbol keep the stacks whose leaf, the branches of
 * which either end, and the blocks that lie there. totals.samples and weight, rows_counted,
 * runs_counted and cycles are those of what was kept; the other counters stay as they are, for
 * nobody knows whose the lost ones were.
 */
int profile_filter(struct profile **ret, const struct profile *profile,
		   const struct profile_filter *filter);
