/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rate-log.h"

#include "common/util/clock.h"
#include "daemon/log.h"

#define QUIET_US 3600000000ull /* between two messages about the same */

/* Whether a message is due, if there is a @cause. */
static bool is_due(bool cause, uint64_t *logged_us)
{
	uint64_t now_us = clock_us(CLOCK_MONOTONIC);

	if (!cause || (*logged_us > 0 && now_us - *logged_us < QUIET_US))
		return false;
	*logged_us = now_us;
	return true;
}

static void log_full_rings(struct rate_log *log, uint64_t ring_full)
{
	if (!is_due(ring_full > log->ring_full, &log->ring_full_us))
		return;
	log->ring_full = ring_full;
	log_warning(LOG_ID_RINGS_FULL,
		    "%llu samples lost since sampling began, because a CPU's ring was full: a "
		    "larger RingSize= in branchd.conf loses fewer",
		    (unsigned long long)ring_full);
}

static void log_throttled(struct rate_log *log, uint64_t throttled, double scale)
{
	if (!is_due(throttled > log->throttled, &log->throttled_us))
		return;
	log->throttled = throttled;
	log_warning(LOG_ID_THROTTLED,
		    "the kernel throttled sampling %llu times since it began; the rate is now %.0f "
		    "%% of what was asked for: raise the sysctl kernel.perf_event_max_sample_rate, "
		    "or lower Frequency=",
		    (unsigned long long)throttled, 100 / scale);
}

void rate_log_window(struct rate_log *log, const struct collector *collector, const char *what,
		     double budget)
{
	struct sampler_counts counts;
	struct own_cost_report cost;

	collector_get_counts(collector, &counts);
	collector_get_cost(collector, &cost);
	log_full_rings(log, counts.ring_full);
	log_throttled(log, counts.throttled, cost.scale);
	if (is_due(cost.limited && cost.scale > 1, &log->budget_us))
		log_write(LOG_NOTICE, LOG_ID_BUDGET, NULL,
			  "sampling %s, at %.0f %% of that rate now: more would exceed "
			  "CpuBudget=%g%% of each CPU once CPUs are busy",
			  what, 100 / cost.scale, 100 * budget);
}
