/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/pmu-problems.h"

#include <stdio.h>

#define ROTATION_SHARE 100 /* report events that did not count for 1/100 of their time */

/* Reports that the kernel rotates the events of the PMU, because perf or a guest uses it, too. */
static void add_rotation(struct status *status)
{
	const struct sampler_counts *c = &status->samples;
	char text[256];

	if (c->running_ns >= c->enabled_ns - c->enabled_ns / ROTATION_SHARE)
		return;
	snprintf(text, sizeof(text),
		 "the PMU's events counted for %.1f %% of their time: another user of the PMU, or "
		 "of branch records with another filter, takes turns with branchd (perf record?)",
		 100.0 * (double)c->running_ns / (double)c->enabled_ns);
	status_add_problem(status, text);
}

/* Reports phases of call stacks that lacked a descriptor or a counter for the event that begins
 * them. */
static void add_phases(struct status *status)
{
	char text[256];

	if (status->samples.phases_missed == 0)
		return;
	snprintf(text, sizeof(text),
		 "%llu times a CPU could not change from branches to call stacks: another event "
		 "occupies the PMU (perf?), or there are too many open files (raise LimitNOFILE=)",
		 (unsigned long long)status->samples.phases_missed);
	status_add_problem(status, text);
}

void pmu_problems_add(struct status *status)
{
	add_rotation(status);
	add_phases(status);
}
