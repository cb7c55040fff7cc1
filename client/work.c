/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot of n rows shows n branches and the n - 1 runs between them, so that calls and cycles are taken as
 * parts of what was counted of each. Cycles are those of the runs that had any, for all runs.
 */
#include "client/work.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"

#define MIN_CALLS 10

static void count_calls(struct work *works, const struct profile *profile)
{
	double rows = (double)profile->counters.rows_counted;

	for (size_t i = 0; i < profile->n_branches; i++) {
		const struct profile_branch *branch = &profile->branches[i];
		const struct profile_function *to = profile_find_function(profile, branch->to);

		if (!to || to->start != branch->to.offset ||
		    to == profile_find_function(profile, branch->from))
			continue;
		works[to - profile->functions].calls += branch->taken;
		works[to - profile->functions].calls_share += (double)branch->taken / rows;
	}
}

static void count_cycles(struct work *works, const struct profile *profile)
{
	double runs = (double)profile->counters.runs_counted;

	for (size_t i = 0; i < profile->n_blocks; i++) {
		const struct profile_block *block = &profile->blocks[i];
		struct location start = { block->object, block->start };
		const struct profile_function *function = profile_find_function(profile, start);

		if (function && block->cycles_rows > 0)
			works[function - profile->functions].cycles_per_run +=
				(double)block->runs / runs * (double)block->cycles /
				(double)block->cycles_rows;
	}
}

int work_count(struct work **ret, const struct profile *profile)
{
	struct work *works = calloc(profile->n_functions + 1, sizeof(*works));

	if (!works)
		return -ENOMEM;
	if (profile->counters.rows_counted > 0 && profile->counters.runs_counted > 0) {
		count_calls(works, profile);
		count_cycles(works, profile);
	}
	*ret = works;
	return 0;
}

void work_add(struct work *to, const struct work *work)
{
	to->calls += work->calls;
	to->calls_share += work->calls_share;
	to->cycles_per_run += work->cycles_per_run;
}

double work_per_call(const struct work *work)
{
	return work->calls >= MIN_CALLS ? work->cycles_per_run / work->calls_share : 0;
}
