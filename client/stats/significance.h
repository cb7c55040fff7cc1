/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Noise: how far a share may be off, and which differences of shares are more than that.
 *
 * Samples of a window are not drawn one by one: what runs now runs on for a while. So how much a
 * share varies is measured, where its range of time is made of several parts: by its variation from
 * one part to the next. Where it cannot be, of one window or a recording, it is taken to be
 * NOISE_EXCESS times what it would be of samples drawn one by one. Either way it comes to counts
 * that are worth less than they are, and intervals and tests for these (the effective sample size
 * of survey statistics: Kish, Survey Sampling, 1965; Korn and Graubard, Survey Methodology 24,
 * 1998).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/stats/interval.h"
#include "client/stats/side.h"

/* Parts of time from which variation is measured; fewer would tell too little of it. */
#define NOISE_MIN_PARTS 6

/* The variance of a share in one window over that of samples drawn one by one, where it cannot be
 * measured. */
#define NOISE_EXCESS 2.0

/* Of the rows said to have moved, at most this share has not, in the mean over many comparisons. */
#define NOISE_FALSE_SHARE 0.01

/* What a row counted, out of what: @counts[i * stride] and @all[i] in each of @n_parts parts (or 0
 * parts). */
struct significance_counts {
	uint64_t count, total;
	const uint64_t *parts;
	size_t stride;
	const uint64_t *all;
	size_t n_parts;
	double unit; /* so many are worth no more than one that was drawn by itself; 0: each is */
};

/* Shares, 0 to 1, and their difference; all intervals are of 95 %. */
struct significance {
	double shares[N_SIDES];
	struct interval intervals[N_SIDES];
	double difference; /* new less old */
	struct interval interval;
	double p_value; /* of so large a difference, or a larger one, where nothing has moved */
	bool has_enough_data; /* there is enough of it for any difference to be told from noise */
};

void significance_test(struct significance *ret, const struct significance_counts counts[N_SIDES]);

/*
 * Which of @n differences, by their p_values, are real; so that of those told real only
 * NOISE_FALSE_SHARE are not (Benjamini and Hochberg, J. R. Statist. Soc. B 57, 1995). The largest
 * chance that is real, or a negative number where none is. 0 or -ENOMEM.
 */
int significance_control(const double *p_values, size_t n, double *ret_limit);
