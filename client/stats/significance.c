/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A share x/n whose variance is d times that of n independent samples is worth n/d such samples.
 * For these:
 *
 * - The interval of a share is Wilson's (J. Am. Statist. Ass. 22, 1927), that of a difference is
 *   Newcombe's, made of two of them (Statistics in Medicine 17, 1998, method 10). Both hold for
 *   counts of 0, too.
 * - The p value of a difference is that of the exact conditional test: which part of the row's
 *   samples on both sides is the new side's? For a small share it is binomial (Przyborowski and
 *   Wilenski, Biometrika 31, 1940). A larger share varies less, by 1 - share, so its samples count
 *   for more. Of a share above one half the test takes the rest, which moves by as much.
 * - If d was measured in k parts, Student's t with k - 1 degrees of freedom is used.
 *
 * d is the ratio estimator's variance between parts (Cochran, Sampling Techniques, 1977, 6.3) over
 * the binomial one, but at least 1: if one program is sampled more evenly than at random, the next
 * one need not be.
 */
#include "client/stats/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/stats/distribution.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/macro.h"

#define MIN_SAMPLES 10  /* of both sides together */
#define LIKELY      0.5 /* a p value that no test makes significant */

static double share_of(const struct significance_counts *counts)
{
	return counts->total > 0 ? (double)counts->count / (double)counts->total : 0;
}

static double unit_of(const struct significance_counts *counts)
{
	return counts->unit > 0 ? counts->unit : 1;
}

/* The variance over that of independent samples; 0 if unknown. */
static double measure_excess(const struct significance_counts *counts)
{
	double share = share_of(counts), n = (double)counts->n_parts, squares = 0;

	if (counts->n_parts < SIGNIFICANCE_MIN_PARTS || share <= 0 || share >= 1)
		return 0;
	for (size_t i = 0; i < counts->n_parts; i++) {
		double off =
			(double)counts->parts[i * counts->stride] - share * (double)counts->all[i];

		squares += off * off;
	}
	return fmax(unit_of(counts),
		    n / (n - 1) * squares / ((double)counts->total * share * (1 - share)));
}

/* A share and its effective sample size. */
struct effective {
	double share, samples, count; /* the latter two effective ones */
	double freedom;
};

static struct effective make_effective(const struct significance_counts *counts, double excess,
				       double freedom)
{
	return (struct effective){
		.share = share_of(counts),
		.samples = (double)counts->total / excess,
		.count = (double)counts->count / excess,
		.freedom = freedom,
	};
}

/* If the variance of one side is unknown, that of the other side serves. */
static void make_both(struct effective ret[N_SIDES],
		      const struct significance_counts counts[N_SIDES])
{
	double excess[N_SIDES], freedom[N_SIDES];

	for (int side = 0; side < N_SIDES; side++) {
		excess[side] = measure_excess(&counts[side]);
		freedom[side] = (double)counts[side].n_parts - 1;
	}
	for (int side = 0; side < N_SIDES; side++) {
		enum side other = side == SIDE_OLD ? SIDE_NEW : SIDE_OLD;

		if (excess[side] > 0)
			ret[side] = make_effective(&counts[side], excess[side], freedom[side]);
		else if (excess[other] > 0)
			ret[side] = make_effective(&counts[side], excess[other], freedom[other]);
		else
			ret[side] = make_effective(&counts[side],
						   SIGNIFICANCE_EXCESS * unit_of(&counts[side]),
						   INFINITY);
	}
}

static struct interval wilson(const struct effective *side)
{
	return interval_wilson(side->share, side->samples,
			       distribution_student_limit(side->freedom));
}

static struct interval newcombe(const struct significance *of)
{
	double below = hypot(of->shares[SIDE_NEW] - of->intervals[SIDE_NEW].low,
			     of->intervals[SIDE_OLD].high - of->shares[SIDE_OLD]);
	double above = hypot(of->intervals[SIDE_NEW].high - of->shares[SIDE_NEW],
			     of->shares[SIDE_OLD] - of->intervals[SIDE_OLD].low);

	return (struct interval){ of->difference - below, of->difference + above };
}

/* Satterthwaite's degrees of freedom of a difference (Biometrics Bulletin 2, 1946). */
static double joint_freedom(const struct effective *a, const struct effective *b)
{
	double va = a->samples > 0 ? a->share * (1 - a->share) / a->samples : 0;
	double vb = b->samples > 0 ? b->share * (1 - b->share) / b->samples : 0;
	double down = va * va / a->freedom + vb * vb / b->freedom;

	return down > 0 ? (va + vb) * (va + vb) / down : INFINITY;
}

static double p_value_of(const struct effective sides[N_SIDES])
{
	double samples = sides[SIDE_OLD].samples + sides[SIDE_NEW].samples;
	double count = sides[SIDE_OLD].count + sides[SIDE_NEW].count;
	double in_new = sides[SIDE_NEW].count, rest, p_value;
	double freedom = joint_freedom(&sides[SIDE_OLD], &sides[SIDE_NEW]);

	if (sides[SIDE_OLD].samples <= 0 || sides[SIDE_NEW].samples <= 0)
		return 1;
	if (count > samples / 2) {
		count = samples - count;
		in_new = sides[SIDE_NEW].samples - in_new;
	}
	rest = 1 - count / samples;
	p_value = distribution_binomial(in_new / rest, count / rest,
					sides[SIDE_NEW].samples / samples);
	if (isinf(freedom) || p_value >= LIKELY)
		return p_value;
	return distribution_student(distribution_normal_limit(p_value), freedom);
}

void significance_test(struct significance *ret, const struct significance_counts counts[N_SIDES])
{
	struct effective sides[N_SIDES];
	double n_independent = 0;

	make_both(sides, counts);
	for (int side = 0; side < N_SIDES; side++) {
		ret->shares[side] = sides[side].share;
		ret->intervals[side] = wilson(&sides[side]);
		n_independent += (double)counts[side].count / unit_of(&counts[side]);
	}
	ret->difference = ret->shares[SIDE_NEW] - ret->shares[SIDE_OLD];
	ret->interval = newcombe(ret);
	ret->p_value = p_value_of(sides);
	ret->has_enough_data = n_independent >= MIN_SAMPLES;
}

double significance_margin(const struct significance *of)
{
	return fmax(of->interval.high - of->difference, of->difference - of->interval.low);
}

static int compare_p_values(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;

	return COMPARE(a, b);
}

int significance_control(const double *p_values, size_t n, double *ret_limit)
{
	_cleanup_free_ double *sorted = NULL;

	*ret_limit = -1;
	if (n == 0)
		return 0;
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, p_values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_p_values);
	for (size_t i = n; i-- > 0;)
		if (sorted[i] <= SIGNIFICANCE_FALSE_SHARE * (double)(i + 1) / (double)n) {
			*ret_limit = sorted[i];
			break;
		}
	return 0;
}
