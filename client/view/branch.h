/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views by branch and by block: the profile's own tables, summed over all processes, and the
 * branches summed by pairs of functions.
 */
#pragma once

#include <stddef.h>

#include "common/profile/profile.h"

/*
 * *@ret is a heap array of *@ret_n rows, hottest first; their process is PROFILE_NONE. Branches by
 * how often they were taken; blocks by their cycles where the profile has any, else by runs.
 * 0 or -ENOMEM.
 */
int view_branches(struct profile_branch **ret, size_t *ret_n, const struct profile *profile);
int view_blocks(struct profile_block **ret, size_t *ret_n, const struct profile *profile);

/*
 * Replaces the ends of the @n branches by the functions that they are in, which adds up the
 * branches between two functions; an end in no function stays. Returns the number of rows, hottest
 * first.
 */
size_t view_pair_functions(struct profile_branch *rows, size_t n, const struct profile *profile);

/* The same of all branches of the profile, as view_branches() returns them. */
int view_branch_pairs(struct profile_branch **ret, size_t *ret_n, const struct profile *profile);

/* The lower end of the interval (interval.h) of the share of mispredictions in those known. */
double view_branch_surely(const struct profile_counters *counters,
			  const struct profile_branch *branch);

/* The cycles of all blocks of @profile. */
uint64_t view_block_cycles(const struct profile *profile);
