/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rings of a perf event of one process that its children inherit. Such events have to be bound
 * to a CPU to share a ring, so there is one for each CPU.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

struct rings {
	struct ring *rows;
	uint64_t *ids; /* the kernel's, of each */
	size_t n;
	size_t n_bytes; /* of the data of one */
};

/* The descriptor of an event, or -errno. */
int rings_open_event(struct perf_event_attr *attr, pid_t pid, int cpu);

/* Each ring has @n_pages pages. -errno; rings_done() is needed all the same. */
int rings_open(struct rings *rings, struct perf_event_attr *attr, pid_t pid, size_t n_pages);
void rings_done(struct rings *rings);

/*
 * Hands all that is there to @take: whole records, one ring after the other, but a record may be
 * split between two calls. An error of @take ends it and is returned.
 */
typedef int (*rings_take)(const void *bytes, size_t n, void *userdata);
int rings_drain(struct rings *rings, rings_take take, void *userdata);
