/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probe: which way of sampling this machine has, found by trying to open its events; and why not
 * a better one.
 */
#pragma once

#include <linux/perf_event.h>

#include "common/util/fault.h"
#include "daemon/sampler.h"

/* Opens a perf event of all tasks on @cpu: a descriptor, or -errno. */
typedef int (*probe_opener)(const struct perf_event_attr *attr, int cpu, void *userdata);

/* How to sample: the attr of the event, but for what all events have in common. */
struct probe_result {
	struct sampler_probe what;
	struct perf_event_attr attr;
	bool ticks_when_idle; /* it overflows by the clock, in the idle task, too */
};

/*
 * Tries what @settings ask for, or all, best first, on CPU @cpu. -errno and @fault, one line with the
 * remedy, where there is none. @open is NULL but in tests.
 */
int probe_run(struct probe_result *ret, const struct sampler_settings *settings, int cpu,
	      probe_opener open, void *userdata, struct fault *fault);

/* What @r of opening a perf event means, and what helps, after "@what: ". Returns @r. */
int probe_explain(int r, const char *what, struct fault *fault);

/* perf_event_open() of all tasks on @cpu. */
int probe_open_event(const struct perf_event_attr *attr, int cpu, void *userdata);
