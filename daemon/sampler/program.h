/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BPF program, loaded, and the rings it writes into. libbpf and the skeleton stay behind this
 * header.
 */
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
	uint64_t period_ns;    /* of a clock that ticks in the idle task, too, where it takes no
				  samples */
	bool kernel, user;     /* whose stacks are taken */
	const struct lbr *lbr; /* whose branch rows are read; NULL: none are */
	uint32_t depth;        /* of it; 0: not known */
	bool leave_kernel;     /* the kernel's rows are left out */
	bool some_kinds;       /* its filter has not all kinds of branches */
	const struct task_filter *only;
};

/* -errno and @fault, one line with the remedy. */
int program_load(struct program **ret, const struct program_settings *settings,
		 struct fault *fault);
struct program *program_free(struct program *program);
DEFINE_CLEANUP(struct program *, program_free);

/* What a sampling event is to be given by PERF_EVENT_IOC_SET_BPF: each kind has a program of its
 * own. */
int program_fd(const struct program *program, enum bpf_event event);

/* Samples in control group @id are not taken any more. That there is no room for it is no error. */
void program_refuse(const struct program *program, uint64_t id);

/* Whether the running kernel's struct @type has a member @name, by its description of its types. */
bool program_kernel_has(const char *type, const char *name);

/* The map of the rings that the programs write into, for ring_open(). */
int program_ring_map_fd(const struct program *program);

/* CPUs there may ever be: numbers below it. */
uint32_t program_n_cpus(const struct program *program);

/* The counters of @cpu, which the program is changing meanwhile. */
struct bpf_counters *program_counters(const struct program *program, uint32_t cpu);

/* How long the programs have run, and how often, where kernel.bpf_stats_enabled; else 0. */
void program_get_run_time(const struct program *program, uint64_t *ret_ns, uint64_t *ret_runs);
