/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies of records out of the rings, which wait until their turn comes. The memory of those that
 * have gone is kept for the next ones, as far as it is little: new memory costs a fault for each
 * page, which is more than the copy itself.
 */
#pragma once

#include <stddef.h>

#include <linux/perf_event.h>

#include "common/record/chunk.h"
#include "common/record/order.h"

#define RECORD_COPIES_SPARES 8 /* chunks of CHUNK_BYTES */

/* Zeroed: none. */
struct record_copies {
	struct chunk *chunk; /* that is being filled; a reference */
	struct chunk *spares[RECORD_COPIES_SPARES];
	size_t n_spares;
};

void record_copies_done(struct record_copies *copies);

/* Copies @record. *@ret has the copy and its chunk, with a reference, and no time. 0 or -ENOMEM. */
int record_copies_add(struct record_copies *copies, const struct perf_event_header *record,
		      struct waiting *ret);

/* Gives a reference of a chunk back. */
void record_copies_release(struct record_copies *copies, struct chunk *chunk);
