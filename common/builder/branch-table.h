/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counts of one window's branch records, by raw address. The engine spends most of its time
 * here.
 *
 * One hash step counts a branch and the straight run before it: the key is (context, run, from, to,
 * kind), where run is the number of bytes from the `to` of the older record to the `from` of this
 * one. Counts lie in the order in which their keys were first seen, so that the hot ones are close
 * together; an index of small entries finds them. A batch prefetches its index entries, and then
 * its counts, one batch before it uses them: without that the table would mostly wait for memory.
 *
 * A sample without a call chain is counted here too, as a record without a target (to = 0).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/util/macro.h"

/* A run is stored as its length + 1, or as the reason why it is unknown or impossible. */
#define RUN_BITS      24
#define RUN_MASK      ((1u << RUN_BITS) - 1)
#define RUN_NONE      0u
#define RUN_MAX_BYTES (1u << 20) /* no straight code is longer; the limit of google/autofdo */
#define RUN_LONG      (RUN_MASK - 1)
#define RUN_BACKWARD  RUN_MASK

_Static_assert(RUN_MAX_BYTES + 1 < RUN_LONG, "a length differs from all reasons");

/* The run from @begin to the branch at @from. */
static inline uint32_t run_between(uint64_t begin, uint64_t from)
{
	if (_likely_(from - begin <= RUN_MAX_BYTES))
		return (uint32_t)(from - begin) + 1;
	return from < begin ? RUN_BACKWARD : RUN_LONG;
}

/* The run that ends with a record, and in the bits above it the kind of the branch. */
static inline uint32_t run_and_kind(uint32_t run, uint64_t flags)
{
	return run | ((uint32_t)flags & BRANCH_RECORD_KIND_MASK)
			     << (RUN_BITS - BRANCH_RECORD_KIND_SHIFT);
}

/* The context of a record above its run_and_kind(): a part of the key that is compared at once. */
static inline uint64_t run_of_context(uint32_t context, uint32_t run)
{
	return (uint64_t)context << 32 | run;
}

/* A valid branch record on its way into the table; or a sample's address in @from. */
struct counted_record {
	uint64_t from, to;
	uint64_t run; /* run_of_context() */
	uint64_t flags;
	uint64_t hash;
	struct record_count *count; /* where it is probably counted; NULL: nowhere */
};

#define RECORD_BATCH 65u /* 64 records and the sample */

/* How often a branch was taken, and how often of that it was mispredicted, predicted and aborted:
 * one vector instruction adds all four. */
enum branch_time { TIMES_TAKEN, TIMES_MISPREDICTED, TIMES_PREDICTED, TIMES_ABORTED };
typedef uint32_t branch_times __attribute__((vector_size(16)));

/* The counts of one key, each at most BRANCH_TABLE_MAX_TIMES. One cache line. */
struct record_count {
	uint64_t from, to;
	branch_times times; /* see enum branch_time */
	uint64_t run;       /* run_of_context() */
	uint64_t cycles;    /* or the periods of samples */
	uint32_t untimed;   /* of those taken, how many had no cycles */
} __attribute__((aligned(64)));

static inline uint32_t record_count_context(const struct record_count *count)
{
	return (uint32_t)(count->run >> 32);
}

struct record_batch {
	struct counted_record rows[RECORD_BATCH];
	uint64_t weight; /* the period of a sample, which is the first of @rows */
	size_t n;
};

struct branch_table {
	struct record_count
		*counts; /* max_counts of them; the kernel allocates their pages on first use */
	size_t n_counts, max_counts;
	/* 1 << bits entries: a piece of the hash and the number of a count; 0: free. */
	uint32_t *index;
	unsigned int bits;
	struct record_batch
		batches[3]; /* one is filled, one waits for the index, one for the counts */
	unsigned int filling;
	/* Not counted, because the table was full. */
	uint64_t full_rows, full_runs, full_samples;
};

#define BRANCH_TABLE_MAX       (1u << 22) /* distinct records, at most */
#define BRANCH_TABLE_MAX_TIMES UINT32_MAX

/* At most @max_counts distinct records. 0 or -ENOMEM. */
int branch_table_init(struct branch_table *table, size_t max_counts);
void branch_table_done(struct branch_table *table);

/* Where the next record of a batch goes, and copies of the fields of the table that every record
 * needs. */
struct record_cursor {
	struct counted_record *row;
	const uint32_t *index;
	unsigned int shift;
};

/* Begins a batch of up to RECORD_BATCH records. 0 or -ENOMEM. */
int branch_table_begin(struct branch_table *table, struct record_cursor *ret);

static inline uint64_t branch_table_hash(uint64_t run, uint64_t from, uint64_t to)
{
	return from * 0xbf58476d1ce4e5b9ull + to * 0x94d049bb133111ebull +
	       run * 0x9e3779b97f4a7c15ull;
}

/* Puts a record into the batch, and prefetches its index entry. */
static inline void branch_table_put(struct record_cursor *cursor, uint64_t run, uint64_t from,
				    uint64_t to, uint64_t flags)
{
	uint64_t hash = branch_table_hash(run, from, to);
	struct counted_record *row = cursor->row++;

	__builtin_prefetch(&cursor->index[hash >> cursor->shift]);
	row->from = from;
	row->to = to;
	row->run = run;
	row->flags = flags;
	row->hash = hash;
}

/* The same for a sample, before all records of its batch. */
static inline void branch_table_put_sample(struct branch_table *table, struct record_cursor *cursor,
					   uint32_t context, uint64_t address, uint64_t weight)
{
	table->batches[table->filling].weight = weight;
	branch_table_put(cursor, run_of_context(context, RUN_NONE), address, 0, 0);
}

/* Hands over the batch; the next two calls count it. */
void branch_table_submit(struct branch_table *table, const struct record_cursor *cursor);

/* Counts all batches that wait. After it full_rows, full_runs and full_samples are final. */
void branch_table_flush(struct branch_table *table);

/*
 * Calls @handler for each count, in the order in which they were first seen, until a call returns a
 * negative errno; frees their memory on the way. The table is empty afterwards in any case. 0, that
 * errno, or -ENOMEM: then the only valid call is branch_table_done().
 */
typedef int (*branch_table_handler)(const struct record_count *count, void *userdata);
int branch_table_drain(struct branch_table *table, branch_table_handler handler, void *userdata);
