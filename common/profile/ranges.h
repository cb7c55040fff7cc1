/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ranges: the blocks of an object, split into pieces that do not overlap. They give the number of
 * times that each instruction ran.
 *
 * The idea is Peter Zijlstra's (perf's block-range.c, 2016). His ranges are of addresses in one
 * process. These are of an object in all processes, and follow from the blocks and branches of a
 * profile, so they are as exact after a merge as before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct profile_range {
	/* Offsets, both inclusive. @end may be the first byte of the last instruction. */
	uint64_t start, end;
	bool is_target;       /* a branch leads to @start */
	bool is_branch;       /* a branch is at @end */
	uint64_t coverage;    /* runs through the range */
	uint64_t entry;       /* runs that start in it */
	uint64_t taken;       /* runs that end in it, because its branch was taken */
	uint64_t cycles;      /* of the runs that end in it, each from its own start */
	uint64_t cycles_rows; /* runs with a number of cycles */

	/* Records of the branch. More than @taken: the oldest record of a snapshot ends no run. */
	uint64_t rows;
	uint64_t mispredicted;
	uint64_t predicted;
};

/*
 * *@ret is a heap array of the *@ret_n ranges of @object in the finalized @profile, in the order of
 * their offsets, without the ranges that no run covers. Blocks that end before they start, or at
 * UINT64_MAX, are skipped. 0 or -ENOMEM.
 */
int profile_ranges(struct profile_range **ret, size_t *ret_n, const struct profile *profile,
		   uint32_t object);
