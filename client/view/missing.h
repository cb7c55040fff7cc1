/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is missing in a source: samples that were lost or not taken, and time without the daemon. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/source/profile-source.h"

struct missing {
	uint64_t sampled_us; /* the sum of the windows; of a recording its length */
	uint64_t gaps_us;    /* between the windows */
	size_t n_gaps;       /* of a recording, where nobody knows: 0 */
	uint64_t removed_us; /* as well, but there were windows */
	size_t n_removed;
	uint64_t lost;            /* samples and records, of all processes */
	double lost_percent;      /* of the samples that there would be */
	double estimated_percent; /* of the samples: counted for others, as CpuBudget= demands */
	double captured_percent;  /* of the samples: their stacks are not estimated from others */
};

struct missing missing_of(const struct profile_source *source);

/* From here on it is said before the rows, in percent. */
#define MISSING_MIN_PERCENT 1.0

/* Whether enough stacks are estimated for it to be said. */
static inline bool missing_has_estimated_stacks(const struct missing *missing)
{
	return missing->captured_percent <= 100 - MISSING_MIN_PERCENT;
}
