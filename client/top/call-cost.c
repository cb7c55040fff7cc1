/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A snapshot of n records has n branches and n - 1 runs between them. So calls are taken as a share
 * of all branches, and runs as a share of all runs. The mean cycles of timed runs stand for all
 * runs.
 */
#include "client/top/call-cost.h"

#include <errno.h>
#include <stdlib.h>

#include "common/profile/function-counts.h"

#define MIN_CALLS 10

int call_cost_count(struct call_cost **ret, const struct profile *profile)
{
	struct call_cost *costs = calloc(profile->n_functions + 1, sizeof(*costs));
	struct function_counts counts = { 0 };
	int r = costs ? function_counts_init(&counts, profile) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < counts.n_rows; i++) {
		const struct function_tally *tally = &counts.rows[i].tally;

		if (counts.rows[i].function != PROFILE_NONE)
			call_cost_add(&costs[counts.rows[i].function],
				      &(struct call_cost){ tally->calls, tally->runs,
							   tally->timed_runs, tally->cycles });
	}
	function_counts_done(&counts);
	if (r < 0)
		free(costs);
	else
		*ret = costs;
	return r;
}

void call_cost_add(struct call_cost *to, const struct call_cost *cost)
{
	to->calls += cost->calls;
	to->runs += cost->runs;
	to->timed_runs += cost->timed_runs;
	to->cycles += cost->cycles;
}

double call_cost_per_call(const struct call_cost *cost, const struct profile_counters *counters)
{
	double runs, calls, cycles;

	if (cost->calls < MIN_CALLS || cost->timed_runs == 0 || counters->runs_counted == 0)
		return 0;
	runs = (double)cost->runs / (double)counters->runs_counted;
	calls = (double)cost->calls / (double)counters->rows_counted;
	cycles = (double)cost->cycles / (double)cost->timed_runs;
	return runs * cycles / calls;
}
