/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/history/change.h"

#include <math.h>

#define MAX_P_VALUE 0.01
#define MIN_SHARE   1e-6 /* a program that did not run may have run a little */

struct half {
	uint64_t count, total;
};

static void add(struct half *half, const struct history_series *series, size_t i)
{
	half->count += series->counts[i];
	half->total += series->samples[i];
}

static double weight(const struct half *old, const struct half *new)
{
	double n = (double)old->total, m = (double)new->total;

	if (old->total == 0 || new->total == 0)
		return 0;
	return fabs((double)new->count / m - (double)old->count / n) * sqrt(n * m / (n + m));
}

/* The first point of the second half; 0: there is no difference anywhere. */
static size_t find_split(const struct history_series *series)
{
	struct half old = {}, new = {};
	double most = 0;
	size_t at = 0;

	for (size_t i = 0; i < series->n; i++)
		add(&new, series, i);
	for (size_t i = 0; i + 1 < series->n; i++) {
		double w;

		add(&old, series, i);
		new.count -= series->counts[i];
		new.total -= series->samples[i];
		w = weight(&old, &new);
		if (w > most) {
			most = w;
			at = i + 1;
		}
	}
	return at;
}

static struct significance_counts counts_of(const struct history_series *series, size_t first,
					    size_t end)
{
	struct significance_counts counts = {
		.parts = series->counts + first,
		.stride = 1,
		.all = series->samples + first,
		.n_parts = end - first,
		.unit = series->unit,
	};
	struct half half = {};

	for (size_t i = first; i < end; i++)
		add(&half, series, i);
	counts.count = half.count;
	counts.total = half.total;
	return counts;
}

void history_change_find(struct history_change *ret, const struct history_series *series)
{
	size_t at = find_split(series);

	*ret = (struct history_change){ .split = at };
	if (at == 0)
		return;
	significance_test(&ret->test, (struct significance_counts[N_SIDES]){
					      [SIDE_OLD] = counts_of(series, 0, at),
					      [SIDE_NEW] = counts_of(series, at, series->n) });
	if (ret->test.has_enough_data && ret->test.p_value * (double)(series->n - 1) <= MAX_P_VALUE)
		ret->at = at;
}

/* How much more likely the point is at @share than at @other. */
static double advantage(const struct history_series *series, size_t i, double share, double other)
{
	double count = (double)series->counts[i], rest = (double)series->samples[i] - count;

	return count * log(share / other) + rest * log((1 - share) / (1 - other));
}

size_t history_change_locate(const struct history_series *series, double share_before,
			     double share_after)
{
	double before = fmin(fmax(share_before, MIN_SHARE), 1 - MIN_SHARE);
	double after = fmin(fmax(share_after, MIN_SHARE), 1 - MIN_SHARE);
	double sum = 0, most = 0;
	size_t at = 0;

	for (size_t i = 0; i < series->n; i++) {
		sum += advantage(series, i, before, after);
		if (sum > most) {
			most = sum;
			at = i + 1;
		}
	}
	return at;
}
