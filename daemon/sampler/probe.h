/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probe: which way of sampling this machine has, found by trying to open its events; and why
 * not a better one.
 */
#pragma once

#include <linux/perf_event.h>

#include "bpf/sample.h"
#include "common/util/fault.h"
#include "daemon/sampler/lbr.h"
#include "daemon/sampler/machine.h"
#include "daemon/sampler/report.h"
#include "daemon/sampler/settings.h"

/* Opens a perf event of all tasks on @cpu: a descriptor, or -errno. */
typedef int (*probe_opener)(const struct perf_event_attr *attr, int cpu, void *userdata);

/* An event that each CPU is sampled by, all the time or in turn with the other one. */
struct probe_event {
	bool used;
	struct perf_event_attr attr; /* but for what all events have in common */
};

/* How to sample. */
struct probe_result {
	struct sampler_probe what;
	struct probe_event events[BPF_N_EVENTS];
	const struct lbr *lbr; /* NULL: no branch rows are read */
	bool leave_kernel;     /* of the rows that come, the kernel's are not wanted */
	bool ticks_when_idle;  /* it overflows by the clock, in the idle task, too */
};

/*
 * Tries what @settings ask for, or all, best first, on a CPU of each PMU of @machine. -errno and
 * @fault, one line with the remedy, where there is none. @open is NULL but in tests.
 */
int probe_run(struct probe_result *ret, const struct sampler_settings *settings,
	      const struct machine *machine, probe_opener open, void *userdata,
	      struct fault *fault);

/* Makes @attr, which is for any CPU, that for @cpu: processors may have cores of several types. */
void probe_adapt(const struct machine *machine, uint32_t cpu, struct perf_event_attr *attr);

/* What @r of opening a perf event means, and what helps, after "@what: ". Returns @r. */
int probe_explain(int r, const char *what, struct fault *fault);

/* perf_event_open() of all tasks on @cpu. */
int probe_open_event(const struct perf_event_attr *attr, int cpu, void *userdata);
