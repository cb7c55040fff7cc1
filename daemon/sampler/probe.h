/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probe: finds the best way of sampling on this machine by opening events, and the reason why
 * there is no better one.
 */
#pragma once

#include <linux/perf_event.h>

#include "bpf/sample.h"
#include "common/util/fault.h"
#include "daemon/sampler/lbr.h"
#include "daemon/sampler/machine.h"
#include "daemon/sampler/report.h"
#include "daemon/sampler/settings.h"

/* Opens a perf event for all tasks on @cpu. A descriptor, or -errno. */
typedef int (*probe_opener)(const struct perf_event_attr *attr, int cpu, void *userdata);

/* An event that samples each CPU, all the time or in turns with the other one. */
struct probe_event {
	bool used;
	struct perf_event_attr attr; /* without the fields that all events share */
};

/* How to sample. */
struct probe_result {
	struct sampler_probe what;
	struct probe_event events[BPF_N_EVENTS];
	const struct pmu *only; /* the PMU whose CPUs alone have the event; NULL: all have */
	const struct lbr *lbr;  /* NULL: no branch records are read */
	bool leave_kernel;      /* the BPF program leaves out the kernel's branch records */
	bool ticks_when_idle;   /* the event overflows in the idle task, too */
};

/*
 * Tries what @settings ask for, or all ways, best first, on a CPU of each PMU of @machine, which
 * *@ret borrows. If no way works: -errno and @fault, one line with the remedy.
 */
int probe_run(struct probe_result *ret, const struct sampler_settings *settings,
	      const struct machine *machine, probe_opener open, void *userdata,
	      struct fault *fault);

/* Adapts @attr, which is for any CPU, to the type of core of @cpu. */
void probe_adapt(const struct machine *machine, uint32_t cpu, struct perf_event_attr *attr);

/* Explains the error @r of opening a perf event: "@what: REASON", and what to do. Returns @r. */
int probe_explain(int r, const char *what, struct fault *fault);
