/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work: what a call of a function costs, in cycles of its own code. A function may have a larger share because
 * it has got dearer, or because it is called more; branch records tell these apart.
 */
#pragma once

#include "common/profile/profile.h"

/* Of all rows and runs of a profile, the parts that are calls of a function and cycles in it. */
struct work {
	uint64_t calls; /* branches seen to its first instruction, from outside of it */
	double calls_share;
	double cycles_per_run; /* cycles in it, to each run there is in the profile */
};

/* (*@ret)[i] is that of function i of @profile, which is sealed; for the caller to free. 0 or -ENOMEM. */
int work_count(struct work **ret, const struct profile *profile);

/* Adds up two functions, and what a call costs; 0 where too few were seen. */
void work_add(struct work *to, const struct work *work);
double work_per_call(const struct work *work);
