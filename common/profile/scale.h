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

/* The same of a row that is known of captured samples alone: a stack, caller, branch, line. It has
 * @count, and @variance is what estimating adds to that; of 0, as for those captured most rarely.
 */
double profile_row_unit(const struct profile_counters *counters, uint64_t count, uint64_t variance);

/* The same of stacks whose samples are all of functions with @of_functions of the samples: these
 * have been counted, so what estimating adds is only how they are divided. */
double profile_stack_unit(const struct profile_counters *counters, uint64_t count,
			  uint64_t variance, uint64_t of_functions);

/* Of the samples of @part, which are among @all, as large a share is taken to be estimated as of
 * all: which they are is not known. */
void profile_share_estimated(struct profile_counters *part, const struct profile_counters *all);
