/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Significance: which differences of shares are larger than noise.
 *
 * Samples of a window are not independent: what runs now keeps running for a while. A range of
 * several parts shows how much a share varies from part to part. For one window or a recording the
 * variance is assumed to be SIGNIFICANCE_EXCESS times that of independent samples. Both reduce the
 * counts to an effective sample size, of which intervals and tests are taken (Kish, Survey
 * Sampling, 1965; Korn and Graubard, Survey Methodology 24, 1998).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/stats/interval.h"
#include "client/stats/side.h"

/* The fewest parts of time whose variation is measured. */
#define SIGNIFICANCE_MIN_PARTS 6

/* The assumed variance of a share, over that of independent samples. */
#define SIGNIFICANCE_EXCESS 2.0

/* The false discovery rate: of the rows reported as moved, on average this share has not. */
#define SIGNIFICANCE_FALSE_SHARE 0.01

/* The counts of a row: @count of @total, and in part i @parts[i * stride] of @all[i]. */
struct significance_counts {
	uint64_t count, total;
	const uint64_t *parts;
	size_t stride;
	const uint64_t *all;
	size_t n_parts; /* may be 0 */
	double unit;    /* counts per independent event; 0: 1 */
};

/* Shares, 0 to 1, and their difference; all intervals are of 95 %. */
struct significance {
	double shares[N_SIDES];
	struct interval intervals[N_SIDES];
	double difference; /* new less old */
	struct interval interval;
	double p_value;       /* of a difference at least this large if nothing has moved */
	bool has_enough_data; /* else no difference could exceed noise */
};

/* The larger half of the interval of the difference: its error bound. */
double significance_margin(const struct significance *of);

void significance_test(struct significance *ret, const struct significance_counts counts[N_SIDES]);

/*
 * Controls the false discovery rate of @n tests at SIGNIFICANCE_FALSE_SHARE (Benjamini and
 * Hochberg, J. R. Statist. Soc. B 57, 1995). Differences with p values up to *@ret_limit are
 * significant; it is negative if none is. 0 or -ENOMEM.
 */
int significance_control(const double *p_values, size_t n, double *ret_limit);
