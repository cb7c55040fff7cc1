/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * As many CPUs as wanted, for the daemon's own sampler: in place of perf events and BPF programs,
 * memory of their form, which another process fills. So this stands for
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

#define MEMORY_CPUS_MAX 256

struct memory_cpus {
	uint32_t n_cpus;
	size_t ring_bytes;
	struct perf_event_mmap_page *rings[MEMORY_CPUS_MAX]; /* their data follow */
	struct bpf_counters *counters;                       /* of each CPU, as is: */
	struct bpf_ticks *ticks;
	atomic_bool *is_sampling; /* shared with processes that are forked */
	int full_fd;              /* an eventfd: a ring has filled up */
	int ring_fds[MEMORY_CPUS_MAX], counters_fd, ticks_fd;
};

/* The one machine of this program. NULL if there is no memory for it. */
const struct memory_cpus *memory_cpus_make(uint32_t n_cpus, size_t ring_pages);
