/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is open for one CPU: its ring, the event that samples, and the one that tells of tasks and
 * mappings, both of them redirected into the ring.
 */
#pragma once

#include <stdint.h>

#include <linux/perf_event.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/program.h"

struct cpu_events;

struct cpu_events_settings {
	const struct perf_event_attr *sampling;
	size_t ring_pages;
};

/* What every event carries in its records: the layout of all that is in a ring. */
#define CPU_EVENTS_SAMPLE_TYPE (PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

/*
 * Opens all for @cpu; tasks and mappings are told from now on, sampling is off. -ENODEV where the CPU
 * is off line; another -errno and @fault.
 */
int cpu_events_open(struct cpu_events **ret, uint32_t cpu, struct program *program,
		    const struct cpu_events_settings *settings, ring_handler handler,
		    void *userdata, struct fault *fault);
struct cpu_events *cpu_events_free(struct cpu_events *events);
DEFINE_CLEANUP(struct cpu_events *, cpu_events_free);

/* From the return of cpu_events_stop() on the program does not run on the CPU. -errno. */
int cpu_events_start(struct cpu_events *events);
void cpu_events_stop(struct cpu_events *events);

uint32_t cpu_events_cpu(const struct cpu_events *events);
struct ring *cpu_events_ring(const struct cpu_events *events);
