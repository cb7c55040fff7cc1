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
 * so that the profile compares with others and adds up with them. So do lost ones. The weights are
 * the periods that were waited for, and stay. counters.samples_estimated has the samples added, and
 * samples_variance what that adds to the variance of the sum.
 */
void profile_scale_samples(struct profile *profile, uint64_t n);

/* By how much the variance of a count of samples is larger than that of as many that were all
 * taken: at least 1. */
double profile_sample_unit(const struct profile_counters *counters);

/* The same of what is known of captured samples alone: stacks, callers, branches, lines. */
double profile_stack_unit(const struct profile_counters *counters);

/* Of the samples of @part, which are among @all, as large a share is taken to be estimated as of
 * all: which they are is not known. */
void profile_share_estimated(struct profile_counters *part, const struct profile_counters *all);
