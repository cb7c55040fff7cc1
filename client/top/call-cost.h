/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cost of a call of a function, in cycles of its own code. It shows whether the share of a
 * function grew because a call costs more, or because there are more calls.
 */
#pragma once

#include "common/profile/profile.h"

struct call_cost {
	uint64_t calls;      /* branches to its first instruction from outside of it */
	uint64_t runs;       /* of blocks that start in it */
	uint64_t timed_runs; /* runs with known cycles */
	uint64_t cycles;     /* of timed runs */
};

/* (*@ret)[i] is that of function i of the finalized @profile. The caller frees *@ret. 0 or -ENOMEM.
 */
int call_cost_count(struct call_cost **ret, const struct profile *profile);

void call_cost_add(struct call_cost *to, const struct call_cost *cost);

/* The cycles of a call, from the sums in @counters; 0 if too few calls were seen. */
double call_cost_per_call(const struct call_cost *cost, const struct profile_counters *counters);
