/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles whose counts stand for more than was counted. */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

/* Multiplies the counts of all rows, but no weights: by arithmetic modulo 2^64, so that UINT64_MAX
 * negates them. */
void profile_scale_rows(struct profile *profile, uint64_t factor);

/*
 * Of each @n samples that were due one alone was taken: counts it as @n, with its branch records,
 * so that the profile compares with others and adds up with them. The weights are the periods that
 * were waited for, and stay. What was lost is counted as before. The added samples are in
 * counters.samples_estimated.
 */
void profile_scale_samples(struct profile *profile, uint64_t n);

/* How many of the samples counted stand for one that was taken, on average: the variance of a count
 * is larger by that. At least 1. */
double profile_sample_unit(const struct profile_counters *counters);
