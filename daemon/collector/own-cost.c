/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/own-cost.h"

#include <pthread.h>

#include "common/util/clock.h"

uint32_t own_cost_init(struct own_cost *cost, double limit, double max_scale, double hz)
{
	*cost = (struct own_cost){ 0 };
	cpu_budget_begin(&cost->budget, limit, max_scale, hz);
	if (pthread_getcpuclockid(pthread_self(), &cost->storing) != 0)
		cost->storing = CLOCK_PROCESS_CPUTIME_ID;
	atomic_init(&cost->limit, limit);
	atomic_init(&cost->share, 0);
	atomic_init(&cost->wanted, cost->budget.wanted);
	atomic_init(&cost->scale, cost->budget.scale);
	atomic_init(&cost->throttled, false);
	atomic_init(&cost->hour_share, 0);
	atomic_init(&cost->hour_taken, 0);
	return cost->budget.one_in;
}

uint32_t own_cost_end_window(struct own_cost *cost, const struct sampler_counts *counts)
{
	const struct cpu_cost now = {
		.at_ns = clock_ns(CLOCK_MONOTONIC),
		.program_ns = counts->run_ns,
		.counting_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cost->closing_ns,
		.rest_ns = clock_ns(cost->storing) + cost->closing_ns,
		.n_taken = counts->taken + counts->filtered,
		.n_samples = cost->n_samples,
		.n_others = cost->n_others,
		.throttled = counts->throttled,
		.n_cpus = counts->n_cpus,
	};
	struct last_hour_average hour;

	cost->budget.limit = atomic_load(&cost->limit);
	cpu_budget_update(&cost->budget, &now);
	atomic_store(&cost->share, cost->budget.share);
	atomic_store(&cost->wanted, cost->budget.wanted);
	atomic_store(&cost->scale, cost->budget.scale);
	atomic_store(&cost->throttled, cost->budget.n_held > 0);
	hour = last_hour_get(&cost->budget.hour, now.at_ns);
	atomic_store(&cost->hour_share, hour.share);
	atomic_store(&cost->hour_taken, hour.taken);
	return cost->budget.one_in;
}

void own_cost_get(const struct own_cost *cost, struct own_cost_report *ret)
{
	*ret = (struct own_cost_report){
		.share = atomic_load(&cost->share),
		.scale = atomic_load(&cost->scale),
		.limited = atomic_load(&cost->wanted) > 1,
		.throttled = atomic_load(&cost->throttled),
		.hour = { atomic_load(&cost->hour_share), atomic_load(&cost->hour_taken) },
	};
}
