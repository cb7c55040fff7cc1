/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call cost: what a call of a function costs, in cycles of its own code. A function may have a
 * larger share because it has got dearer, or because it is called more; branch records tell these
 * apart.
 */
#pragma once

#include "common/profile/profile.h"

struct call_cost {
	uint64_t calls;      /* branches seen to its first instruction, from outside of it */
	uint64_t runs;       /* of the blocks that start in it, */
	uint64_t timed_runs; /* of these those whose cycles are known, */
	uint64_t cycles;     /* and these */
};

/* (*@ret)[i] is that of function i of @profile, which is sealed; for the caller to free. 0 or
 * -ENOMEM. */
int call_cost_count(struct call_cost **ret, const struct profile *profile);

void call_cost_add(struct call_cost *to, const struct call_cost *cost);

/* What a call costs, of all that @counters counted; 0 where too few were seen. */
double call_cost_per_call(const struct call_cost *cost, const struct profile_counters *counters);
