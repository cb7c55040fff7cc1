/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/ring.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "common/util/cleanup.h"

struct ring {
	struct perf_buffer *buffer;
	ring_handler handler;
	void *userdata;
	int r; /* the handler's first negative answer */
};

static enum bpf_perf_event_ret on_record(void *userdata, int cpu, struct perf_event_header *record)
{
	struct ring *ring = userdata;

	ring->r = ring->handler(record, ring->userdata);
	return ring->r < 0 ? LIBBPF_PERF_EVENT_ERROR : LIBBPF_PERF_EVENT_CONT;
}

int ring_open(struct ring **ret, const struct ring_settings *settings)
{
	_cleanup_(ring_freep) struct ring *ring = calloc(1, sizeof(*ring));
	struct perf_event_attr attr = *settings->attr;
	int cpus[1] = { (int)settings->cpu };
	LIBBPF_OPTS(perf_buffer_raw_opts, options, .cpu_cnt = 1, .cpus = cpus, .map_keys = cpus);

	if (!ring)
		return -ENOMEM;
	ring->handler = settings->handler;
	ring->userdata = settings->userdata;
	ring->buffer = perf_buffer__new_raw(settings->map_fd, settings->n_pages, &attr, on_record,
					    ring, &options);
	if (!ring->buffer)
		return -errno;
	*ret = TAKE_PTR(ring);
	return 0;
}

struct ring *ring_free(struct ring *ring)
{
	if (!ring)
		return NULL;
	perf_buffer__free(ring->buffer);
	free(ring);
	return NULL;
}

int ring_fd(const struct ring *ring)
{
	return perf_buffer__buffer_fd(ring->buffer, 0);
}

int ring_drain(struct ring *ring)
{
	int r;

	ring->r = 0;
	r = perf_buffer__consume_buffer(ring->buffer, 0);
	return ring->r < 0 ? ring->r : r;
}
