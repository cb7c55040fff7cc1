/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The events of all CPUs: opened, followed as CPUs come and go, and where there are two that
 * sample, enabled in turn.
 *
 * Branch rows are filtered by one register of a CPU, so those of any branch and those of call
 * stacks cannot be had at once: each CPU has phases of either. Neighbours are in opposite phases,
 * unless the kernel keeps call-stack rows for the task: it does so on all CPUs while one has call
 * stacks, also on those in the other phase, and a task that goes from one of these to one of the
 * first would bring along branches as its callers (Linux 6.15, x86_pmu.lbr_callstack_users in
 * arch/x86/events/intel/lbr.c). Then all CPUs change at once.
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
	struct program *program; /* borrowed, as are the next two */
	const struct probe_result *probe;
	const struct machine *machine;
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

/* -errno */
int cpus_start(struct cpus *cpus);
void cpus_stop(struct cpus *cpus);

/* To be called a few times a second from cpus_start() on: CPUs come and go, phases end. -errno. */
int cpus_follow(struct cpus *cpus);

/* Hands all that is in the rings to the handler. The first negative answer ends it and is passed
 * on. */
int cpus_drain(struct cpus *cpus);

/* Any thread may ask. */
uint32_t cpus_n_open(const struct cpus *cpus);
/* How many phases of call stacks of a CPU could not be, for the rows of before could not be wiped.
 */
uint64_t cpus_phases_missed(const struct cpus *cpus);
/* Of a PMU's events, all zero by the clock; not newer than the last cpus_follow() or cpus_stop().
 */
void cpus_get_times(const struct cpus *cpus, struct cpu_events_times *ret);
