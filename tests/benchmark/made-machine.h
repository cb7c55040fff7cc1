/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine with as many CPUs as wanted, for the daemon's own sampler: in place of perf events and
 * BPF programs, memory of their form, which another process fills. So this stands for
 * daemon/sampler/cpus.c and daemon/events/client.c; a program that links it has nothing else of
 * them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "bpf/sample.h"

#define MADE_MACHINE_MAX_CPUS 256

struct made_machine {
	uint32_t n_cpus;
	size_t ring_bytes;
	struct perf_event_mmap_page *rings[MADE_MACHINE_MAX_CPUS]; /* their data follow */
	struct bpf_counters *counters;                             /* of each CPU, as is: */
	struct bpf_ticks *ticks;
	atomic_bool *is_sampling; /* shared with processes that are forked */
	int full_fd;              /* an eventfd: a ring has filled up */
	int ring_fds[MADE_MACHINE_MAX_CPUS], counters_fd, ticks_fd;
};

/* The one machine of this program. NULL if there is no memory for it. */
const struct made_machine *made_machine_make(uint32_t n_cpus, size_t ring_pages);
