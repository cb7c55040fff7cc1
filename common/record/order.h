/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts the records of different CPUs in the order of their time.
 *
 * perf drains the ring of one CPU after the other, and writes FINISHED_ROUND after all of them.
 * Records after the end of a round are no older than those of the round before, so all of that
 * round can go out. Between rounds a bounded number of records waits here. Where a round holds
 * more, or there are no rounds, the older half goes out early, and records that then come too late
 * are counted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "common/record/chunk.h"
#include "common/util/macro.h"

struct waiting {
	uint64_t time_ns;
	const struct perf_event_header *record;
	struct chunk *chunk; /* that holds it, with a reference; NULL where it needs none */
};

struct order;

/* @max_waiting records at most; 0: half a million, which is 25 MiB at the worst. */
int order_new(struct order **ret, size_t max_waiting);
struct order *order_free(struct order *order);
DEFINE_CLEANUP(struct order *, order_free);

/*
 * Adds the next record of the file, and its chunk. A record without a time (0) stays next to the
 * one before it. Those that wait are bounded only if it is called when order_next() has returned
 * false; whoever adds more finishes the round before asking for them. 0 or -ENOMEM.
 */
int order_add(struct order *order, const struct waiting *record);

/* 0 or -ENOMEM. */
int order_finish_round(struct order *order);                   /* a round is finished */
int order_finish_until(struct order *order, uint64_t time_ns); /* what comes is later */
int order_finish(struct order *order);                         /* no more comes */

/* The next record that may go out, and its chunk: true and *@ret. */
bool order_next(struct order *order, struct waiting *ret);

/* Whether as many records wait as may. */
bool order_is_full(const struct order *order);

/* The number of chunks that those that wait hold. */
size_t order_n_chunks(const struct order *order);

/*
 * Copies each record that waits, all of which have a chunk, and lets the old one go. @mover gives
 * the copy and its chunk, with a reference. 0, or the first negative answer of @mover.
 */
typedef int (*order_mover)(const struct perf_event_header *record, struct waiting *ret,
			   void *userdata);
int order_move(struct order *order, order_mover mover, void *userdata);

uint64_t order_n_late(const struct order *order);
