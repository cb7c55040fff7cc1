/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of one CPU and their ring: one or two events that sample, only one of them at a time,
 * and one that reports tasks and mappings. All are redirected into the ring.
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
	uint64_t missed;     /* periods without a run of the BPF program */
	uint64_t enabled_ns; /* how long they should have counted */
	uint64_t running_ns; /* how long they did: less if others use the PMU, too */
};

/* The fields of every record in a ring. */
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
 * Samples by @event alone from now on. Branch records of the other event's phase do not come with
 * its samples. If the kernel cannot clear them, they would pass for call stacks: then the CPU stays
 * with branches, and the answer is 1. 0, 1 or -errno.
 */
int cpu_events_start(struct cpu_events *events, enum bpf_event event);

/* Once it has returned, the BPF program does not run on the CPU any more. */
void cpu_events_stop(struct cpu_events *events);

/* Takes a sample after @scale times the period that the events were opened with. 0, 1 as
 * cpu_events_start(), or -errno. */
int cpu_events_slow(struct cpu_events *events, uint32_t scale);

/* Adds the times of a PMU's events. False if the sampling event has died because the CPU went off
 * line. */
bool cpu_events_add_times(struct cpu_events *events, struct cpu_events_times *sum);

struct ring *cpu_events_ring(const struct cpu_events *events);
