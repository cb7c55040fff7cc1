/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counts of one window's branch rows, by raw address: where the time of the engine goes.
 *
 * One hash step counts a branch and the straight run before it: the key is (context, run, from, to,
 * kind), run being how many bytes lie between the `to` of the row before and this row's `from`.
 * Rows lie in the order they were first seen, the hot ones therefore close together, found through
 * an index of small entries. What a batch of rows needs of the index, and then of the rows, is
 * asked for from memory one batch before it is used: waiting for memory is what this would spend
 * its time with otherwise.
 *
 * A sample without a call chain is counted here as well, as a row that leads nowhere (to = 0).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/util/macro.h"

/* A run is its length + 1, so that 0 is none, or why it is not to be believed. */
#define RUN_BITS      24
#define RUN_MASK      ((1u << RUN_BITS) - 1)
#define RUN_NONE      0u
#define RUN_MAX_BYTES (1u << 20) /* no straight code is longer; as google/autofdo has it */
#define RUN_LONG      (RUN_MASK - 1)
#define RUN_BACKWARD  RUN_MASK

_Static_assert(RUN_MAX_BYTES + 1 < RUN_LONG, "a length is none of the others");

/* The run from @begin to the branch at @from. */
static inline uint32_t run_between(uint64_t begin, uint64_t from)
{
	if (_likely_(from - begin <= RUN_MAX_BYTES))
		return (uint32_t)(from - begin) + 1;
	return from < begin ? RUN_BACKWARD : RUN_LONG;
}

/* The run that ended in a row, and above it the row's kind, which is part of the key as well. */
static inline uint32_t run_and_kind(uint32_t run, uint64_t flags)
{
	return run | ((uint32_t)flags & BRANCH_RECORD_KIND_MASK)
			     << (RUN_BITS - BRANCH_RECORD_KIND_SHIFT);
}

/* A branch row that can be believed; or a sample's address in @from and its period in @cycles. */
struct counted_row {
	uint64_t from, to;
	uint64_t cycles;
	uint32_t run;   /* run_and_kind() */
	uint32_t flags; /* the row's; the last four are looked at */
};

#define ROW_BATCH 65u /* 64 rows and the sample */

/* How often the branch was taken, and of that how often predicted wrong, right, and aborted: one
 * instruction counts all. */
enum row_time { ROW_TAKEN, ROW_TAKEN_WRONG, ROW_TAKEN_RIGHT, ROW_TAKEN_ABORTED };
typedef uint32_t row_times __attribute__((vector_size(16)));

/* What was counted of one key, at most BRANCH_TABLE_MAX_TIMES. A cache line. */
struct row_count {
	uint64_t from, to;
	row_times times; /* see enum row_time */
	uint32_t context;
	uint32_t run; /* run_and_kind() */
	uint64_t cycles;
	uint32_t cycles_rows;
} __attribute__((aligned(64)));

/* Rows of one context on their way into the table. */
struct row_batch {
	struct counted_row rows[ROW_BATCH];
	uint64_t hashes[ROW_BATCH];
	struct row_count *counts[ROW_BATCH]; /* where each probably is counted; NULL: nowhere */
	uint32_t context;
	size_t n;
};

struct branch_table {
	struct row_count
		*counts; /* room for max_counts, of which the kernel gives pages as needed */
	size_t n_counts, max_counts;
	uint32_t *index; /* 1 << bits entries: a piece of the hash, and the number of a count; 0:
			    free */
	unsigned int bits;
	struct row_batch
		batches[3]; /* one is filled, one waits for the index, one for the counts */
	unsigned int filling;
	/* What a full table turned away. */
	uint64_t full_rows, full_runs, full_samples;
};

#define BRANCH_TABLE_MAX       (1u << 22) /* distinct rows, at most */
#define BRANCH_TABLE_MAX_TIMES UINT32_MAX

/* At most @max_counts distinct rows. 0 or -ENOMEM. */
int branch_table_init(struct branch_table *table, size_t max_counts);
void branch_table_done(struct branch_table *table);

/* Where the next row of a batch goes; and what the table is asked for, so that it need not be
 * looked up for each. */
struct row_cursor {
	struct counted_row *row;
	uint64_t *hash;
	uint64_t context_hash;
	const uint32_t *index;
	unsigned int shift;
};

/* Begins a batch of up to ROW_BATCH rows, all of @context. 0 or -ENOMEM. */
int branch_table_begin(struct branch_table *table, uint32_t context, struct row_cursor *ret);

/* What the context adds to row_hash(). */
static inline uint64_t row_hash_context(uint32_t context)
{
	return ((uint64_t)context << 32) * 0x9e3779b97f4a7c15ull;
}

static inline uint64_t row_hash(uint64_t context_hash, uint32_t run, uint64_t from, uint64_t to)
{
	return from * 0xbf58476d1ce4e5b9ull + to * 0x94d049bb133111ebull +
	       run * 0x9e3779b97f4a7c15ull + context_hash;
}

/* Puts a row into the batch, and asks for its index entry. */
static inline void row_put(struct row_cursor *cursor, struct counted_row row)
{
	uint64_t hash = row_hash(cursor->context_hash, row.run, row.from, row.to);

	__builtin_prefetch(&cursor->index[hash >> cursor->shift]);
	*cursor->row++ = row;
	*cursor->hash++ = hash;
}

/* Has the rows of the batch counted, soon. */
void branch_table_submit(struct branch_table *table, const struct row_cursor *cursor);

/* Counts what still waits; after it full_rows and its like are final. */
void branch_table_flush(struct branch_table *table);

/*
 * Calls @handler for each row counted, in the order they were first seen, giving their memory back
 * on the way, until one returns a negative errno. The table is empty afterwards in any case. 0,
 * that errno, or -ENOMEM: then it can only be done away with.
 */
typedef int (*branch_table_handler)(const struct row_count *count, void *userdata);
int branch_table_drain(struct branch_table *table, branch_table_handler handler, void *userdata);
