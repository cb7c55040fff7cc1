/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ring of a CPU: the BPF programs write samples into it, and the kernel writes the records of
 * the events that are redirected into it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "common/util/macro.h"

struct ring;

/* A record as the kernel wrote it, 8-byte aligned; valid during the call. */
typedef int (*ring_handler)(const struct perf_event_header *record, void *userdata);

struct ring_settings {
	int fd;         /* the ring's own event, see program_open_ring(); taken over on success */
	size_t n_pages; /* a power of two */
	ring_handler handler;
	void *userdata;
};

/* -errno */
int ring_open(struct ring **ret, const struct ring_settings *settings);
struct ring *ring_free(struct ring *ring);
DEFINE_CLEANUP(struct ring *, ring_free);

/* Its perf event: readable when the ring has filled up to the attr's watermark. */
int ring_fd(const struct ring *ring);

/*
 * Hands records to the handler, until they have @most bytes or more; SIZE_MAX: all. 1: there are
 * more, 0: there were none but these. Ends at the handler's first negative answer, and returns it.
 * -EBADMSG: the ring is damaged.
 */
int ring_drain(struct ring *ring, size_t most);
