/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests of differences, for all views of two profiles: the counts of each row in each part of a
 * side's time, and which of many differences are significant.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/diff/comparison.h"
#include "client/stats/significance.h"

struct diff_parts {
	size_t n[N_SIDES];         /* parts of that side */
	uint64_t *counts[N_SIDES]; /* row i in part k: counts[side][i * n[side] + k] */
	uint64_t *all[N_SIDES];    /* the whole of each part */
};

/* For @n_rows rows, all counts 0. Call diff_parts_done() also after -ENOMEM. */
int diff_parts_init(struct diff_parts *parts, const struct comparison *with, size_t n_rows);
void diff_parts_done(struct diff_parts *parts);

static inline uint64_t *diff_parts_count(struct diff_parts *parts, enum side side, size_t row,
					 size_t part)
{
	return &parts->counts[side][row * parts->n[side] + part];
}

/* Sets the parts of *@ret to those of row @row; its other members stay. */
void diff_parts_get(const struct diff_parts *parts, enum side side, size_t row,
		    struct significance_counts *ret);

/* The p-value of row @i of @rows; negative where it does not have enough data. */
typedef double (*diff_p_value)(const void *rows, size_t i);

/*
 * The largest p-value that is significant among @n rows; negative where none is. See
 * significance_control(). 0 or -ENOMEM.
 */
int diff_control(const void *rows, size_t n, diff_p_value p_value_of, double *ret_limit);

static inline bool diff_is_significant(double p_value, double limit)
{
	return p_value >= 0 && p_value <= limit;
}
