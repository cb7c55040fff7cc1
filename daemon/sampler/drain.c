/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/drain.h"

#include <errno.h>
#include <stdlib.h>

#include "common/record/order.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/sampler/record-copies.h"

#define LEAST_SLICE 4096u
#define MANY_CHUNKS (4 * DRAIN_COPIES_BYTES / CHUNK_BYTES)
#define FEW_CHUNKS  (DRAIN_COPIES_BYTES / CHUNK_BYTES)
#define SLACK_NS    1000000u /* as DRAIN_PATIENCE_NS, where there are more than a few chunks */

/* What has been copied of a CPU's ring. */
struct copied {
	uint64_t newest_ns; /* the time of its newest record; never less than before_ns */
	uint64_t before_ns; /* newest_ns before its last slice */
	bool has_more;      /* than its last slice */
};

struct drain {
	struct decoder *decoder;
	struct order *order;
	struct record_copies copies;
	uint32_t n_cpus;
	struct copied *copied; /* by number of the CPU */
	uint64_t added_ns;     /* the time of the newest record added since it was set to 0 */
};

int drain_new(struct drain **ret, uint32_t n_cpus, struct decoder *decoder)
{
	_cleanup_(drain_freep) struct drain *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	d->decoder = decoder;
	d->n_cpus = n_cpus;
	d->copied = calloc(n_cpus, sizeof(*d->copied));
	r = d->copied ? order_new(&d->order, 0) : -ENOMEM;
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

struct drain *drain_free(struct drain *drain)
{
	if (!drain)
		return NULL;
	order_free(drain->order);
	record_copies_done(&drain->copies);
	free(drain->copied);
	free(drain);
	return NULL;
}

uint64_t drain_n_late(const struct drain *drain)
{
	return order_n_late(drain->order);
}

int drain_add(const struct perf_event_header *record, void *drain)
{
	struct drain *d = drain;
	struct waiting w = { 0 };
	int r = record_copies_add(&d->copies, record, &w);

	if (r < 0)
		return r;
	decoder_time(d->decoder, w.record, &w.time_ns);
	d->added_ns = MAX(d->added_ns, w.time_ns);
	r = order_add(d->order, &w);
	if (r < 0)
		record_copies_release(&d->copies, w.chunk);
	return r;
}

static int copy_ring(struct drain *d, struct ring *ring, struct copied *copied, size_t most)
{
	int r;

	d->added_ns = 0;
	copied->before_ns = copied->newest_ns;
	r = ring_drain(ring, most);
	copied->newest_ns = MAX(copied->newest_ns, d->added_ns);
	copied->has_more = r > 0;
	return r;
}

int drain_copy(struct drain *drain, struct cpus *cpus)
{
	int r = 0;

	for (uint32_t cpu = 0; cpu < drain->n_cpus && r >= 0; cpu++) {
		struct ring *ring = cpus_ring(cpus, cpu);

		if (order_is_full(drain->order))
			return 0;
		if (ring)
			r = copy_ring(drain, ring, &drain->copied[cpu], SIZE_MAX);
	}
	return r < 0 ? r : 0;
}

/*
 * Copies a slice of each ring, except of those that are ahead: the slice copied last is all later
 * than *@until_ns, and so is the end of the one before. 1: some rings have more, and nothing older
 * than *@until_ns is left in any, but for SLACK_NS. 0: all were empty when they were copied last.
 */
static int copy_slice(struct drain *d, struct cpus *cpus, uint64_t *until_ns)
{
	size_t most = MAX(DRAIN_COPIES_BYTES / 2 / d->n_cpus, LEAST_SLICE);
	uint64_t until = clock_ns(CLOCK_MONOTONIC);
	bool have_more = false;

	for (uint32_t cpu = 0; cpu < d->n_cpus; cpu++) {
		struct ring *ring = cpus_ring(cpus, cpu);
		struct copied *copied = &d->copied[cpu];
		bool is_ahead = copied->before_ns > *until_ns;
		int r = ring && !is_ahead ? copy_ring(d, ring, copied, most) : 0;

		if (r < 0)
			return r;
		if (!ring)
			continue;
		have_more |= copied->has_more;
		if (is_ahead || copied->has_more)
			until = MIN(until, copied->newest_ns);
	}
	*until_ns = until;
	return have_more;
}

static int hand_on(struct drain *d, drain_handler handler, void *userdata)
{
	struct waiting w;
	int r = 0;

	while (r >= 0 && order_next(d->order, &w)) {
		r = handler(w.record, userdata);
		record_copies_release(&d->copies, w.chunk);
	}
	return r;
}

static int move(const struct perf_event_header *record, struct waiting *ret, void *userdata)
{
	struct drain *d = userdata;

	return record_copies_add(&d->copies, record, ret);
}

/* All rings were empty at @empty_ns: whatever comes is of that time, but for DRAIN_PATIENCE_NS. */
static int hand_on_old(struct drain *d, uint64_t empty_ns, drain_handler handler, void *userdata)
{
	int r = order_finish_until(d->order, empty_ns - MIN(empty_ns, DRAIN_PATIENCE_NS));

	return r < 0 ? r : hand_on(d, handler, userdata);
}

/*
 * A record that waits long holds its whole chunk. So once there are many of them, what waits is
 * moved together; next when there are twice as many as it needs: *@many.
 */
static int pack(struct drain *d, size_t *many)
{
	int r;

	if (order_n_chunks(d->order) < *many)
		return 0;
	r = order_move(d->order, move, d);
	*many = MAX(2 * order_n_chunks(d->order), MANY_CHUNKS);
	return r;
}

/* What is earlier than the rest of each ring, which begins at @until_ns, can go out. */
static int finish_slice(struct drain *d, uint64_t until_ns)
{
	bool are_few = order_n_chunks(d->order) < FEW_CHUNKS;
	uint64_t slack_ns = are_few ? DRAIN_PATIENCE_NS : SLACK_NS;

	return order_finish_until(d->order, until_ns - MIN(until_ns, slack_ns));
}

int drain_run(struct drain *drain, struct cpus *cpus, drain_handler handler, void *userdata)
{
	/* What is written meanwhile is left to the next call: this one ends. */
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + SLACK_NS, until_ns = UINT64_MAX;
	size_t many = MANY_CHUNKS;
	int r, k;

	do {
		r = copy_slice(drain, cpus, &until_ns);
		if (r < 0)
			return r;
		k = r > 0 ? finish_slice(drain, until_ns) : order_finish_round(drain->order);
		if (k >= 0)
			k = hand_on(drain, handler, userdata);
		if (k >= 0 && r == 0)
			k = hand_on_old(drain, until_ns, handler, userdata);
		if (k >= 0)
			k = pack(drain, &many);
		if (k < 0)
			return k;
	} while (r > 0 && until_ns < end_ns);
	return 0;
}

int drain_finish(struct drain *drain, struct cpus *cpus, drain_handler handler, void *userdata)
{
	int r = drain_run(drain, cpus, handler, userdata);

	if (r >= 0)
		r = order_finish(drain->order);
	return r < 0 ? r : hand_on(drain, handler, userdata);
}
