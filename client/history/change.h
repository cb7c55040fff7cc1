/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a share changed: the point of time between two points of a series that parts it into the
 * most different halves.
 *
 * The split is the one with the largest difference of the halves' shares, each difference weighted
 * by how well its halves' samples determine it (the likelihood ratio of a binomial change point;
 * Hinkley, Biometrika 57, 1970). Then it is tested against the variation within the halves, as
 * significance.h does, and by the number of splits there were to choose from (Bonferroni).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/stats/significance.h"

/* @counts[i] of @samples[i], in the order of time. */
struct history_series {
	const uint64_t *counts, *samples;
	size_t n;
	double unit; /* as in struct significance_counts */
};

struct history_change {
	size_t at;    /* the first point after the change; 0: none is larger than noise */
	size_t split; /* the same of the most different halves, noise or not; 0: they are alike */
	struct significance test; /* of the points before (old) against the others (new) */
};

void history_change_find(struct history_change *ret, const struct history_series *series);

/*
 * The split of @series, of whose halves the shares are known from a longer series: the most likely
 * one, from 0 (all points are after the change) to @series->n (none is).
 */
size_t history_change_locate(const struct history_series *series, double share_before,
			     double share_after);
