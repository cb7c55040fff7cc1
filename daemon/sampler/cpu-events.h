/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is open for one CPU: its ring, the events that sample, of which one at a time does, and the
 * one that tells of tasks and mappings; all of them redirected into the ring.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/sampler/program.h"
#include "daemon/sampler/ring.h"

struct cpu_events;

struct cpu_events_settings {
	uint32_t cpu;
	struct program *program;
	const struct perf_event_attr *sampling[BPF_N_EVENTS]; /* NULL: not used */
	size_t ring_pages;
	ring_handler handler;
	void *userdata;
};

/* Of the sampling events of a PMU, since they were opened. */
struct cpu_events_times {
	uint64_t missed;     /* periods that passed without a run of the program */
	uint64_t enabled_ns; /* how long they should have counted, */
	uint64_t running_ns; /* ... and did: it is less where others use the PMU as well */
};

/* What every event carries in its records: the layout of all that is in a ring. */
#define CPU_EVENTS_SAMPLE_TYPE (PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

/*
 * Opens the events and the ring of a CPU: records of tasks and mappings come from now on, samples
 * do not. Borrows the program. -ENODEV if the CPU is off line; another -errno and @fault.
 */
int cpu_events_open(struct cpu_events **ret, const struct cpu_events_settings *settings,
		    struct fault *fault);
struct cpu_events *cpu_events_free(struct cpu_events *events);
DEFINE_CLEANUP(struct cpu_events *, cpu_events_free);

/*
 * Samples by @event from now on, and by no other one. Branch rows of the other's time do not come
 * with its samples; where that cannot be brought about, and they would be taken for call stacks, it
 * goes on with branches. 0; 1 where it had to do so; -errno.
 */
int cpu_events_start(struct cpu_events *events, enum bpf_event event);

/* When it returns the program does not run on the CPU any more. */
void cpu_events_stop(struct cpu_events *events);

/* Adds what the events of a PMU say. False if the one that samples has died: it went off line
 * meanwhile. */
bool cpu_events_add_times(struct cpu_events *events, struct cpu_events_times *sum);

struct ring *cpu_events_ring(const struct cpu_events *events);
