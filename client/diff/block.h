/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of two profiles side by side: the share of the cycles that each block takes, and its
 * cycles per run.
 *
 * The address map says which blocks are the same. A changed block is shown beside the block that
 * replaced it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/diff/comparison.h"
#include "client/stats/significance.h"

struct diff_block_end {
	bool there;
	struct profile_block block; /* of that side's whole profile */
	size_t number;              /* its row in the counts of parts */
};

struct diff_block {
	struct diff_block_end ends[N_SIDES];
	struct significance share; /* of the cycles of all blocks; without cycles, of the runs */
	double average[N_SIDES];   /* cycles per run; 0 where unknown */
	double average_off;        /* error bound of the difference of the averages */
	bool changed;              /* its code was changed; and why: */
	enum change change;
	bool significant;
};

struct diff_blocks {
	struct diff_block *rows; /* significant ones first, then by the size of the difference */
	size_t n_compared;       /* including rows below the limit */
	size_t n_rows, cap_rows, n_significant;
	bool by_cycles; /* shares of cycles, not of runs */
};

/* @percent_limit: see diff_shares_new(). 0, or -errno and @fault. */
int diff_blocks_new(struct diff_blocks **ret, const struct comparison *with, double percent_limit,
		    struct fault *fault);
struct diff_blocks *diff_blocks_free(struct diff_blocks *blocks);
DEFINE_CLEANUP(struct diff_blocks *, diff_blocks_free);

/* The side whose block names the row: the new side where it has the block. */
enum side diff_block_side(const struct diff_block *row);
