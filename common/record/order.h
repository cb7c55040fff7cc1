/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts the records of different CPUs in the order of their time.
 *
 * perf drains one CPU's ring after the other, and writes FINISHED_ROUND when it has been through
 * all: what comes after a round's end is no older than what the round before held, so all of that
 * can go out. Between rounds the records wait here, a bounded number of them; where a recording
 * keeps more in a round, or has no rounds, the older half goes out early, and records that then
 * come too late are counted.
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
	struct chunk *chunk; /* that it lies in, held; NULL where it needs none */
};

struct order;

/* @max_waiting records at most; 0: half a million, which is 25 MiB at the worst. */
int order_new(struct order **ret, size_t max_waiting);
struct order *order_free(struct order *order);
DEFINE_CLEANUP(struct order *, order_free);

/*
 * Takes in the next record of the file, and its chunk. One without a time (0) stays next to the one
 * before it. Only when order_next() has nothing to give. 0 or -ENOMEM.
 */
int order_add(struct order *order, const struct waiting *record);

/* A round is finished; there is no more to come. */
int order_finish_round(struct order *order);
int order_finish(struct order *order);

/* The next record that may go out, and its chunk: true and *@ret. */
bool order_next(struct order *order, struct waiting *ret);

uint64_t order_n_late(const struct order *order);
