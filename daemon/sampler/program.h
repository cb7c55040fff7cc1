/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BPF programs that branchd-events has loaded, and the events that it opens for them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "bpf/sample.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/events/client.h"
#include "daemon/sampler/lbr.h"
#include "daemon/sampler/report.h"
#include "daemon/sampler/task-filter.h"

struct program;

struct program_settings {
	bool by_clock; /* it also ticks in the idle task: counters.period_ns says how often */
	bool kernel;   /* take stacks of the kernel */
	enum bpf_user_stack user;
	const struct lbr *lbr; /* the kind of the branch records to read; NULL: none */
	uint32_t depth;        /* the number of records it keeps; 0: not known */
	bool leave_kernel;     /* leave out the kernel's branch records */
	bool some_kinds;       /* the branch filter excludes some kinds of branches */
	double capture;        /* the share of the samples whose stacks are taken; 0: all */
	bool by_heat;          /* ... of samples that are hot; see ticks.h */
	const struct task_filter *only; /* borrowed during the call */
};

/*
 * Borrows @events, which knows @n_cpus CPUs. -errno and @fault: one line with the remedy.
 */
int program_load(struct program **ret, struct events_client *events, uint32_t n_cpus,
		 const struct program_settings *settings, struct fault *fault);
struct program *program_free(struct program *program);
DEFINE_CLEANUP(struct program *, program_free);

/* The descriptor of the program for this kind of sampling event, for PERF_EVENT_IOC_SET_BPF. */
int program_fd(const struct program *program, enum bpf_event event);

/* Takes no more samples in the control group with this id, unless the table of such groups is full.
 */
void program_refuse(const struct program *program, uint64_t id);

/* Opens an event of all tasks on @cpu: a descriptor, or -errno. */
int program_open_event(const struct program *program, const struct perf_event_attr *attr,
		       uint32_t cpu);

/* The same, and the programs write the samples of @cpu into this event. */
int program_open_ring(const struct program *program, const struct perf_event_attr *attr,
		      uint32_t cpu);

/* The number of possible CPUs: all numbers of CPUs are below it. */
uint32_t program_n_cpus(const struct program *program);

/* The counters of @cpu; the programs change them meanwhile. */
struct bpf_counters *program_counters(const struct program *program, uint32_t cpu);

/* The map of ticks; -1: all samples are captured in full. */
int program_ticks_fd(const struct program *program);

/* Adds what the programs have counted on all CPUs to @sum. */
void program_add_counts(const struct program *program, struct sampler_counts *sum);

/* Run time and number of runs of the programs: the kernel's if kernel.bpf_stats_enabled, else the
 * programs' own, which leave out how they are called. */
void program_get_run_time(const struct program *program, uint64_t *ret_ns, uint64_t *ret_runs);
