/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of all CPUs. They are opened and closed as CPUs come and go. Where a CPU has two
 * events that sample, they take turns.
 *
 * One register of a CPU filters its branch records. So a CPU records either any branch or call
 * stacks, and alternates between phases of both. Neighbours are in opposite phases, unless the
 * kernel saves call-stack records with the task. Such a kernel saves the records on all CPUs while
 * any CPU is in a phase of call stacks; a task that moves from a CPU with branches to one with call
 * stacks would then bring branches as its callers (Linux 6.15, x86_pmu.lbr_callstack_users in
 * arch/x86/events/intel/lbr.c). With such a kernel all CPUs change phases at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/sampler/cpu-events.h"
#include "daemon/sampler/probe.h"
#include "daemon/sampler/program.h"
#include "daemon/sampler/ring.h"

struct cpus;

struct cpus_settings {
	struct program *program; /* borrowed, as are the next two, and: */
	const struct probe_result *probe;
	const struct machine *machine;
	const char *only; /* the list of CPUs to sample; "": all */
	size_t ring_pages;
	bool together; /* all CPUs are in the same phase */
	ring_handler handler;
	void *userdata;
};

/* Opens the events of all CPUs on line; sampling is off. -errno and @fault. */
int cpus_open(struct cpus **ret, const struct cpus_settings *settings, struct fault *fault);
struct cpus *cpus_free(struct cpus *cpus);
DEFINE_CLEANUP(struct cpus *, cpus_free);

/* Readable (epoll) when a ring fills up. */
int cpus_fd(const struct cpus *cpus);

/* 0 or -errno. */
int cpus_start(struct cpus *cpus);
void cpus_stop(struct cpus *cpus);

/* Follows CPUs that come and go, and changes phases: to be called at least every two
 * seconds from cpus_start() on, and a few times a second where there are phases. 0 or -errno. */
int cpus_follow(struct cpus *cpus);

/* See sampler_slow(). */
int cpus_slow(struct cpus *cpus, uint32_t scale);

/* The ring of @cpu, borrowed until cpus_follow() is called; NULL: it is off line. */
struct ring *cpus_ring(const struct cpus *cpus, uint32_t cpu);

/* Any thread may call the functions from here on. */

uint32_t cpus_n_open(const struct cpus *cpus);
/* The number of phases in which a CPU stayed with branches; see cpu_events_start(). */
uint64_t cpus_phases_missed(const struct cpus *cpus);
/* The times of a PMU's events as of the last cpus_follow() or cpus_stop(); all 0 for the clock. */
void cpus_get_times(const struct cpus *cpus, struct cpu_events_times *ret);
