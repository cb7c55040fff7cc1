/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What views of two profiles share when they judge differences: what each row counted in each part
 * of the time of a side, and which of many differences are more than noise.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/diff/comparison.h"
#include "client/stats/significance.h"

struct diff_parts {
	size_t n[N_SIDES];         /* parts of that side, 0 where there are none */
	uint64_t *counts[N_SIDES]; /* of row i in part k: counts[side][i * n[side] + k] */
	uint64_t *all[N_SIDES];    /* of each part */
};

/* For @n_rows rows of what is compared, all counts 0. -ENOMEM; in any case diff_parts_done() is
 * due. */
int diff_parts_init(struct diff_parts *parts, const struct comparison *with, size_t n_rows);
void diff_parts_done(struct diff_parts *parts);

static inline uint64_t *diff_parts_count(struct diff_parts *parts, enum side side, size_t row,
					 size_t part)
{
	return &parts->counts[side][row * parts->n[side] + part];
}

/* The parts of what that row counted, to be judged; the other members of *@ret stay. */
void diff_parts_get(const struct diff_parts *parts, enum side side, size_t row,
		    struct significance_counts *ret);

/* The chance of row @i of @rows where nothing has moved; negative where there is too little of it
 * to tell. */
typedef double (*diff_p_value)(const void *rows, size_t i);

/*
 * The largest chance that is real among @n rows, which are told by @p_value_of; negative where none
 * is. Those that are 0 to that have moved. 0 or -ENOMEM.
 */
int diff_control(const void *rows, size_t n, diff_p_value p_value_of, double *ret_limit);

/* Has it moved? */
static inline bool diff_moved(double p_value, double limit)
{
	return p_value >= 0 && p_value <= limit;
}
