/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of two profiles side by side: how much of the cycles each takes, and how many it takes a
 * run.
 *
 * A block is the same by its function and its place in it; where the function's code was changed by
 * its instructions (counterpart.h). One that was changed is shown with what stands in its place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/diff/comparison.h"
#include "client/stats/significance.h"

struct diff_block_end {
	bool there;
	struct profile_block block; /* of that side's whole */
	size_t number;              /* what it was counted by in parts of the time */
};

struct diff_block {
	struct diff_block_end ends[N_SIDES];
	struct significance share; /* of the cycles of all blocks; without any cycles of the runs */
	double average[N_SIDES];   /* cycles of a run; 0 where they are not known */
	double average_off;        /* the difference of these may be off by that much */
	bool changed;              /* it is another block now; and why: */
	enum change change;
	bool moved;
};

struct diff_blocks {
	struct diff_block *rows; /* those that moved first, the largest difference first */
	size_t n_compared;       /* of which these are left: */
	size_t n_rows, cap_rows, n_moved;
	bool by_cycles; /* and not by runs */
};

/* With @percent_limit as diff_shares_new() has it. 0, or -errno and @fault. */
int diff_blocks_new(struct diff_blocks **ret, const struct comparison *with, double percent_limit,
		    struct fault *fault);
struct diff_blocks *diff_blocks_free(struct diff_blocks *blocks);
DEFINE_CLEANUP(struct diff_blocks *, diff_blocks_free);

/* The side whose place stands for the row: the new one where it is there. */
enum side diff_block_side(const struct diff_block *row);
