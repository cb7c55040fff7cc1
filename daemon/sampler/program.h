/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loaded BPF programs. libbpf and the skeleton stay behind this header. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "bpf/sample.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/sampler/lbr.h"
#include "daemon/sampler/task-filter.h"

struct program;

struct program_settings {
	uint64_t period_ns; /* of a clock that also ticks in the idle task; 0: of no such clock */
	bool kernel, user;  /* take stacks of the kernel, of user space */
	const struct lbr *lbr;          /* the kind of the branch records to read; NULL: none */
	uint32_t depth;                 /* the number of records it keeps; 0: not known */
	bool leave_kernel;              /* leave out the kernel's branch records */
	bool some_kinds;                /* the branch filter excludes some kinds of branches */
	const struct task_filter *only; /* borrowed during the call */
};

/* -errno and @fault: one line with the remedy. */
int program_load(struct program **ret, const struct program_settings *settings,
		 struct fault *fault);
struct program *program_free(struct program *program);
DEFINE_CLEANUP(struct program *, program_free);

/* The descriptor of the program for this kind of sampling event, for PERF_EVENT_IOC_SET_BPF. */
int program_fd(const struct program *program, enum bpf_event event);

/* Takes no more samples in the control group with this id, unless the table of such groups is full.
 */
void program_refuse(const struct program *program, uint64_t id);

/* Whether struct @type of the running kernel has the member @name, by its BTF. */
bool program_kernel_has(const char *type, const char *name);

/* The map of the rings that the programs write into, for ring_open(). */
int program_ring_map_fd(const struct program *program);

/* The number of possible CPUs: all numbers of CPUs are below it. */
uint32_t program_n_cpus(const struct program *program);

/* The counters of @cpu; the programs change them meanwhile. */
struct bpf_counters *program_counters(const struct program *program, uint32_t cpu);

/* Run time and number of runs of the programs; 0 unless kernel.bpf_stats_enabled. */
void program_get_run_time(const struct program *program, uint64_t *ret_ns, uint64_t *ret_runs);
