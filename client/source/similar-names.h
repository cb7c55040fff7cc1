/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions whose name has what a user asked for in it, but is another: of memcpy most samples may
 * be in __memcpy_avx_unaligned_erms.
 */
#pragma once

#include "common/profile/profile.h"

/*
 * "__memcpy_avx_unaligned_erms (12.1 %)": those with most samples of @profile, if @wanted, a single
 * name without a pattern, has no more samples than they. A heap string; NULL if there are none.
 */
char *similar_names_format(const struct profile *profile, const char *wanted);

/* The same of samples that were counted before: samples[i] of function i of @profile. */
char *similar_names_format_counts(const struct profile *profile, const uint64_t *samples,
				  const char *wanted);

/* The same of the functions with most samples that @pattern matches, see profile_symbol_is_in(). */
char *similar_names_format_matching(const struct profile *profile, const char *pattern);
