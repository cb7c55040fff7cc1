/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rate-log.h"

#include "common/util/clock.h"
#include "daemon/log.h"

#define QUIET_US 3600000000ull /* between two messages about the same */

/* Whether a message is due of what has grown from *@logged to @now. */
static bool is_due(uint64_t now, uint64_t *logged, uint64_t *logged_us)
{
	uint64_t now_us = clock_us(CLOCK_MONOTONIC);

	if (now <= *logged || (*logged_us > 0 && now_us - *logged_us < QUIET_US))
		return false;
	*logged = now;
	*logged_us = now_us;
	return true;
}

void rate_log_window(struct rate_log *log, const struct collector *collector, const char *what,
		     double budget)
{
	uint64_t never = 0;
	struct sampler_counts counts;
	struct own_cost_report cost;

	collector_get_counts(collector, &counts);
	collector_get_cost(collector, &cost);
	if (is_due(counts.ring_full, &log->ring_full, &log->ring_full_us))
		log_warning(LOG_ID_RINGS_FULL,
			    "%llu samples lost since sampling began, because a CPU's ring was "
			    "full: a larger RingSize= in branchd.conf loses fewer",
			    (unsigned long long)counts.ring_full);
	if (is_due(counts.throttled, &log->throttled, &log->throttled_us))
		log_warning(LOG_ID_THROTTLED,
			    "the kernel throttled sampling %llu times since it began, which is at "
			    "%.0f %% of its rate now: the sysctl kernel.perf_event_max_sample_rate "
			    "is too low for it",
			    (unsigned long long)counts.throttled, 100 / cost.scale);
	if (is_due(cost.scale > 1, &never, &log->budget_us))
		log_write(LOG_NOTICE, LOG_ID_BUDGET, NULL,
			  "sampling %s, at %.0f %% of that rate now: more would take over "
			  "CpuBudget=%g%% of each CPU",
			  what, 100 / cost.scale, 100 * budget);
}
