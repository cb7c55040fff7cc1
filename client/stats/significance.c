/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A share x/n whose variance is d times that of n samples drawn one by one is as good as one of n/d
 * such samples. From there on:
 *
 * - The interval of a share is Wilson's (J. Am. Statist. Ass. 22, 1927), that of a difference
 * Newcombe's from two of these (Statistics in Medicine 17, 1998, method 10): both hold for counts
 * of 0, too.
 * - The chance of a difference is that of the exact conditional test: of all samples of the row
 *   that both have, which part is the new one's? It is binomial where the share is small
 * (Przyborowski and Wilenski, Biometrika 31, 1940); a larger one varies less, by 1 - share, and
 * counts for more; and of one over a half it is what is not the row's that is judged, which moves
 * by as much.
 * - Where d was measured in k parts, it is Student's t with k - 1 degrees of freedom that judges.
 *
 * d is the ratio estimator's variance between parts (Cochran, Sampling Techniques, 1977, 6.3) over
 * the binomial one, at least 1: a program that is sampled more evenly than by chance is no proof
 * that the next one is.
 */
#include "client/stats/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/stats/distribution.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define MIN_TELLING 10  /* samples of both together */
#define LIKELY      0.5 /* a chance that nobody takes for news, however it is judged */

static double share_of(const struct significance_counts *counts)
{
	return counts->total > 0 ? (double)counts->count / (double)counts->total : 0;
}

static double unit_of(const struct significance_counts *counts)
{
	return counts->unit > 0 ? counts->unit : 1;
}

/* How many times the variance of counts drawn one by one; 0 where it cannot be told. */
static double measure_excess(const struct significance_counts *counts)
{
	double share = share_of(counts), n = (double)counts->n_parts, squares = 0;

	if (counts->n_parts < NOISE_MIN_PARTS || share <= 0 || share >= 1)
		return 0;
	for (size_t i = 0; i < counts->n_parts; i++) {
		double off =
			(double)counts->parts[i * counts->stride] - share * (double)counts->all[i];

		squares += off * off;
	}
	return fmax(unit_of(counts),
		    n / (n - 1) * squares / ((double)counts->total * share * (1 - share)));
}

/* A share, and what it is worth. */
struct worth {
	double share, samples, count; /* effective ones */
	double freedom;
};

static struct worth weigh(const struct significance_counts *counts, double excess, double freedom)
{
	return (struct worth){
		.share = share_of(counts),
		.samples = (double)counts->total / excess,
		.count = (double)counts->count / excess,
		.freedom = freedom,
	};
}

/* What one side does not tell of its variation, the other one may. */
static void weigh_both(struct worth ret[N_SIDES], const struct significance_counts counts[N_SIDES])
{
	double excess[N_SIDES], freedom[N_SIDES];

	for (int side = 0; side < N_SIDES; side++) {
		excess[side] = measure_excess(&counts[side]);
		freedom[side] = (double)counts[side].n_parts - 1;
	}
	for (int side = 0; side < N_SIDES; side++) {
		enum side other = side == SIDE_OLD ? SIDE_NEW : SIDE_OLD;

		if (excess[side] > 0)
			ret[side] = weigh(&counts[side], excess[side], freedom[side]);
		else if (excess[other] > 0)
			ret[side] = weigh(&counts[side], excess[other], freedom[other]);
		else
			ret[side] = weigh(&counts[side], NOISE_EXCESS * unit_of(&counts[side]),
					  INFINITY);
	}
}

static struct interval wilson(const struct worth *worth)
{
	return interval_wilson(worth->share, worth->samples,
			       distribution_student_limit(worth->freedom));
}

static struct interval newcombe(const struct significance *noise)
{
	double below = hypot(noise->shares[SIDE_NEW] - noise->intervals[SIDE_NEW].low,
			     noise->intervals[SIDE_OLD].high - noise->shares[SIDE_OLD]);
	double above = hypot(noise->intervals[SIDE_NEW].high - noise->shares[SIDE_NEW],
			     noise->shares[SIDE_OLD] - noise->intervals[SIDE_OLD].low);

	return (struct interval){ noise->difference - below, noise->difference + above };
}

/* Satterthwaite's degrees of freedom of a difference (Biometrics Bulletin 2, 1946). */
static double joint_freedom(const struct worth *a, const struct worth *b)
{
	double va = a->samples > 0 ? a->share * (1 - a->share) / a->samples : 0;
	double vb = b->samples > 0 ? b->share * (1 - b->share) / b->samples : 0;
	double down = va * va / a->freedom + vb * vb / b->freedom;

	return down > 0 ? (va + vb) * (va + vb) / down : INFINITY;
}

static double chance_of(const struct worth worths[N_SIDES])
{
	double samples = worths[SIDE_OLD].samples + worths[SIDE_NEW].samples;
	double count = worths[SIDE_OLD].count + worths[SIDE_NEW].count;
	double in_new = worths[SIDE_NEW].count, rest, chance;
	double freedom = joint_freedom(&worths[SIDE_OLD], &worths[SIDE_NEW]);

	if (worths[SIDE_OLD].samples <= 0 || worths[SIDE_NEW].samples <= 0)
		return 1;
	if (count > samples / 2) {
		count = samples - count;
		in_new = worths[SIDE_NEW].samples - in_new;
	}
	rest = 1 - count / samples;
	chance = distribution_binomial(in_new / rest, count / rest,
				       worths[SIDE_NEW].samples / samples);
	if (isinf(freedom) || chance >= LIKELY)
		return chance;
	return distribution_student(distribution_normal_limit(chance), freedom);
}

void significance_test(struct significance *ret, const struct significance_counts counts[N_SIDES])
{
	struct worth worths[N_SIDES];
	double telling = 0;

	weigh_both(worths, counts);
	for (int side = 0; side < N_SIDES; side++) {
		ret->shares[side] = worths[side].share;
		ret->intervals[side] = wilson(&worths[side]);
		telling += (double)counts[side].count / unit_of(&counts[side]);
	}
	ret->difference = ret->shares[SIDE_NEW] - ret->shares[SIDE_OLD];
	ret->interval = newcombe(ret);
	ret->p_value = chance_of(worths);
	ret->has_enough_data = telling >= MIN_TELLING;
}

static int compare_numbers(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;

	return (a > b) - (a < b);
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
	qsort(sorted, n, sizeof(*sorted), compare_numbers);
	for (size_t i = n; i-- > 0;)
		if (sorted[i] <= NOISE_FALSE_SHARE * (double)(i + 1) / (double)n) {
			*ret_limit = sorted[i];
			break;
		}
	return 0;
}
