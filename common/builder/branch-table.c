/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index is a hash table with open addressing and linear probing. The hash is multiply-add by
 * odd constants, of which the high bits are used (Dietzfelbinger et al., A reliable randomized
 * algorithm for the closest-pair problem, 1997): no multiplication waits for another.
 *
 * A batch goes through three stages. While it is filled, its hashes are computed and its index
 * entries prefetched. The next submit() reads these entries and prefetches the counts. The submit()
 * after that adds to the counts.
 */
#include "common/builder/branch-table.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "common/util/macro.h"
#include "common/util/pages.h"

#define MIN_BITS 12

/* An index entry: the number of a count, above it some bits of its hash, and the highest bit. */
#define NUMBER_BITS 22
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)
#define TAKEN       (1u << 31)

_Static_assert(sizeof(struct record_count) == 64, "a count is a cache line");
_Static_assert(BRANCH_TABLE_MAX <= NUMBER_MASK + 1, "a number fits into an index entry");

int branch_table_init(struct branch_table *table, size_t max_counts)
{
	*table = (struct branch_table){ .bits = MIN_BITS };
	table->max_counts = MIN(max_counts, (size_t)BRANCH_TABLE_MAX);
	table->counts = pages_new(table->max_counts * sizeof(*table->counts));
	table->index = pages_new(sizeof(*table->index) << table->bits);
	if (table->counts && table->index)
		return 0;
	branch_table_done(table);
	return -ENOMEM;
}

void branch_table_done(struct branch_table *table)
{
	pages_free(table->counts, table->max_counts * sizeof(*table->counts));
	pages_free(table->index, sizeof(*table->index) << table->bits);
	table->counts = NULL;
	table->index = NULL;
}

/* The upper bits of the hash are the place in the index; the tag is of the bits below them. */
static inline uint32_t tag(uint64_t h)
{
	return ((uint32_t)(h >> 20) & ~NUMBER_MASK) | TAKEN;
}

static inline size_t place(const struct branch_table *t, uint64_t h)
{
	return h >> (64 - t->bits);
}

static inline size_t next_place(const struct branch_table *t, size_t k)
{
	return (k + 1) & (((size_t)1 << t->bits) - 1);
}

static int grow_index(struct branch_table *t)
{
	uint32_t *index = pages_new(sizeof(*index) << (t->bits + 1));

	if (!index)
		return -ENOMEM;
	pages_touch(index, sizeof(*index) << (t->bits + 1));
	pages_free(t->index, sizeof(*t->index) << t->bits);
	t->index = index;
	t->bits++;
	for (size_t i = 0; i < t->n_counts; i++) {
		const struct record_count *c = &t->counts[i];
		uint64_t h = branch_table_hash(c->run, c->from, c->to);
		size_t k = place(t, h);

		while (t->index[k])
			k = next_place(t, k);
		t->index[k] = tag(h) | (uint32_t)i;
	}
	return 0;
}

static void count_rejected(struct branch_table *t, const struct counted_record *row)
{
	t->full_samples += row->to == 0;
	t->full_rows += row->to != 0;
	t->full_runs += (row->run & RUN_MASK) != RUN_NONE;
}

/* Adds a count, at @k of the index; NULL if the table is full. */
static __attribute__((noinline)) struct record_count *add_count(struct branch_table *t, size_t k,
								const struct counted_record *row)
{
	struct record_count *c = &t->counts[t->n_counts];

	if (t->n_counts == t->max_counts) {
		count_rejected(t, row);
		return NULL;
	}
	*c = (struct record_count){ .from = row->from, .to = row->to, .run = row->run };
	t->index[k] = tag(row->hash) | (uint32_t)t->n_counts++;
	return c;
}

static inline bool is_of(const struct record_count *c, const struct counted_record *row)
{
	return c->from == row->from && c->to == row->to && c->run == row->run;
}

/* The count of the record, compared by its whole key; NULL if there is none and the table is full.
 * Rarely needed. */
static __attribute__((noinline)) struct record_count *find_exact(struct branch_table *t,
								 const struct counted_record *row)
{
	size_t k = place(t, row->hash);

	for (; t->index[k]; k = next_place(t, k)) {
		struct record_count *c = &t->counts[t->index[k] & NUMBER_MASK];

		if (is_of(c, row))
			return c;
	}
	return add_count(t, k, row);
}

/*
 * Finds the first count with the record's tag and prefetches it; count_batch() compares the rest.
 */
static void find_batch(struct branch_table *t, struct record_batch *b)
{
	/* The compiler cannot know that these stay the same. */
	const size_t mask = ((size_t)1 << t->bits) - 1;
	const unsigned int shift = 64 - t->bits;
	struct record_count *counts = t->counts;
	const uint32_t *index = t->index;
	struct counted_record *end = b->rows + b->n;

	for (struct counted_record *row = b->rows; row < end; row++) {
		uint64_t h = row->hash;
		size_t k = h >> shift;
		uint32_t number;

		/* An entry less its tag is the number of a count. */
		while (_unlikely_((number = index[k] ^ tag(h)) > NUMBER_MASK) && index[k])
			k = (k + 1) & mask;
		if (_likely_(number <= NUMBER_MASK)) {
			row->count = &counts[number];
			__builtin_prefetch(row->count, 1);
		} else {
			row->count = add_count(t, k, row);
		}
	}
}

/* What a record adds, by its flags BRANCH_RECORD_MISPREDICTED (1), BRANCH_RECORD_PREDICTED (2) and
 * BRANCH_RECORD_ABORT (8). */
static const branch_times by_flags[16] = {
	{ 1, 0, 0, 0 }, { 1, 1, 0, 0 }, { 1, 0, 1, 0 }, { 1, 1, 1, 0 },
	{ 1, 0, 0, 0 }, { 1, 1, 0, 0 }, { 1, 0, 1, 0 }, { 1, 1, 1, 0 },
	{ 1, 0, 0, 1 }, { 1, 1, 0, 1 }, { 1, 0, 1, 1 }, { 1, 1, 1, 1 },
	{ 1, 0, 0, 1 }, { 1, 1, 0, 1 }, { 1, 0, 1, 1 }, { 1, 1, 1, 1 },
};

static inline struct record_count *find(struct branch_table *t, const struct counted_record *row)
{
	struct record_count *c = row->count;

	return _likely_(!c || is_of(c, row)) ? c : find_exact(t, row);
}

static void count_sample(struct branch_table *t, const struct record_batch *b)
{
	struct record_count *c = find(t, b->rows);

	if (!c)
		return;
	c->times[TIMES_TAKEN]++;
	c->cycles += b->weight;
}

static void count_batch(struct branch_table *t, struct record_batch *b)
{
	const struct counted_record *row = b->rows, *end = b->rows + b->n;

	if (b->n > 0 && row->to == 0) {
		count_sample(t, b);
		row++;
	}
	for (; row < end; row++) {
		struct record_count *c = find(t, row);
		uint64_t cycles = branch_record_flags_cycles(row->flags);

		if (_unlikely_(!c))
			continue;
		c->times += by_flags[row->flags % 16];
		c->cycles += cycles;
		if (cycles == 0)
			c->untimed++;
	}
	b->n = 0;
}

/* Moves all batches one stage on. */
static void advance(struct branch_table *t)
{
	count_batch(t, &t->batches[(t->filling + 1) % 3]);
	find_batch(t, &t->batches[(t->filling + 2) % 3]);
	t->filling = (t->filling + 1) % 3;
}

int branch_table_begin(struct branch_table *table, struct record_cursor *ret)
{
	struct record_batch *batch = &table->batches[table->filling];

	/* At most half full, all batches included, so that the search for a new key is short. */
	if (_unlikely_(table->n_counts + 3 * RECORD_BATCH > (size_t)1 << (table->bits - 1)) &&
	    table->n_counts < table->max_counts && grow_index(table) < 0)
		return -ENOMEM;
	*ret = (struct record_cursor){
		.row = batch->rows,
		.index = table->index,
		.shift = 64 - table->bits,
	};
	return 0;
}

void branch_table_submit(struct branch_table *table, const struct record_cursor *cursor)
{
	struct record_batch *batch = &table->batches[table->filling];

	batch->n = (size_t)(cursor->row - batch->rows);
	advance(table);
}

void branch_table_flush(struct branch_table *table)
{
	for (unsigned int i = 0; i < 3; i++) {
		table->batches[table->filling].n = 0;
		advance(table);
	}
}

static int drain_counts(struct branch_table *t, branch_table_handler handler, void *userdata)
{
	const size_t piece = PAGES_HUGE / sizeof(struct record_count);
	int r;

	for (size_t i = 0; i < t->n_counts; i++) {
		if (i % piece == 0 && i > 0)
			madvise(&t->counts[i - piece], PAGES_HUGE, MADV_DONTNEED);
		r = handler(&t->counts[i], userdata);
		if (r < 0)
			return r;
	}
	return 0;
}

int branch_table_drain(struct branch_table *table, branch_table_handler handler, void *userdata)
{
	size_t max_counts = table->max_counts;
	int r, k;

	branch_table_flush(table);
	pages_free(TAKE_PTR(table->index), sizeof(*table->index) << table->bits);
	r = drain_counts(table, handler, userdata);
	branch_table_done(table);
	k = branch_table_init(table, max_counts);
	return r < 0 ? r : k;
}
