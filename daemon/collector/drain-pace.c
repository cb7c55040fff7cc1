/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/drain-pace.h"

#include "common/util/macro.h"

/* That the last wait took, at least 1. */
static uint64_t seconds_of(const struct drain_pace *pace)
{
	return MAX((uint64_t)pace->wait_ms / 1000, (uint64_t)1);
}

static bool cannot_wait(const struct drain_pace *pace, const struct drain_pace_view *view)
{
	uint64_t seconds = seconds_of(pace);

	return pace->wait_ms == 0 || view->changes_phase ||
	       (view->n_tasks > pace->n_tasks + DRAIN_PACE_TASKS * seconds &&
		view->n_files > pace->n_files) ||
	       view->n_ticks > pace->n_ticks + DRAIN_PACE_TICKS * seconds;
}

static int longest_wait_ms(const struct drain_pace *pace, const struct drain_pace_view *view)
{
	uint64_t ms = view->window_us / 1000 / 5;

	if ((view->n_samples - pace->n_samples) * 1000 >
	    DRAIN_PACE_SAMPLES * (uint64_t)pace->wait_ms)
		return DRAIN_PACE_BUSY_MS;
	ms = MAX(ms, (uint64_t)DRAIN_PACE_SHORT_MS);
	return (int)MIN(ms, (uint64_t)DRAIN_PACE_MOST_MS);
}

int drain_pace_next(struct drain_pace *pace, const struct drain_pace_view *view)
{
	if (cannot_wait(pace, view))
		pace->wait_ms = DRAIN_PACE_LEAST_MS;
	else
		pace->wait_ms = MIN(2 * pace->wait_ms, longest_wait_ms(pace, view));
	pace->n_samples = view->n_samples;
	pace->n_tasks = view->n_tasks;
	pace->n_files = view->n_files;
	pace->n_ticks = view->n_ticks;
	return pace->wait_ms;
}
