/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranges: the runs of an object broken into pieces that do not overlap, so that it can be told of
 * each instruction how often it ran.
 *
 * The idea is Peter Zijlstra's (perf's block-range.c, 2016). There ranges are of addresses of one
 * process; these are of an object, all processes added up, and they follow from a profile's blocks
 * and branches, so that they are as exact after a merge as before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct profile_range {
	uint64_t start, end; /* offsets, both inclusive; of the instruction at @end perhaps the
				first byte alone */
	bool is_target;      /* a branch leads to @start */
	bool is_branch;      /* one is at @end */
	uint64_t coverage;   /* runs that go through it */
	uint64_t entry;      /* of these, those that start in it */
	uint64_t taken;      /* those that end in it, by its branch being taken */
	uint64_t cycles; /* of those that end in it, from their own start on, and how many had them:
			  */
	uint64_t cycles_rows;

	/* Of the branch's rows, which are more than @taken: of each snapshot's oldest the run is
	 * not known. */
	uint64_t rows;
	uint64_t mispredicted;
	uint64_t predicted;
};

/*
 * *@ret is a heap array of the *@ret_n ranges of @object of the sealed @profile that any run goes
 * through, in the order of their place. A block that ends before it starts, or with the last offset
 * there is, is left out. 0 or -ENOMEM.
 */
int profile_ranges(struct profile_range **ret, size_t *ret_n, const struct profile *profile,
		   uint32_t object);
