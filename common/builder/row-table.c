/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index is a hash table with open addressing and linear probing. The hash is multiply-add by odd
 * constants with the high bits taken (Dietzfelbinger et al., A reliable randomized algorithm for the
 * closest-pair problem, 1997): multiplications that do not wait for each other.
 *
 * A batch goes through three stages, a submit() each: its hashes are computed and its index entries
 * asked for; the entries are read and the counts asked for; the counts are made.
 */
#include "common/builder/row-table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/profile/branch-kind.h"
#include "common/record/event.h"
#include "common/util/macro.h"

#define MIN_BITS   12
#define HUGE_BYTES (2u << 20)

/* An index entry: the number of a count + 1, above it the lowest bits of its hash. */
#define NUMBER_BITS 23
#define NUMBER_MASK ((1u << NUMBER_BITS) - 1)

_Static_assert(sizeof(struct row_count) == 64, "a count is a cache line");
_Static_assert(N_BRANCH_KINDS == 16, "what row_kind() gives");
_Static_assert(ROW_TABLE_MAX < NUMBER_MASK, "a number fits into an index entry");

static struct row_count *reserve_counts(size_t n)
{
	size_t n_bytes = n * sizeof(struct row_count);
	void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int row_table_init(struct row_table *table, size_t max_counts)
{
	*table = (struct row_table){ .bits = MIN_BITS };
	table->max_counts = MIN(max_counts, (size_t)ROW_TABLE_MAX);
	table->counts = reserve_counts(table->max_counts);
	table->index = calloc((size_t)1 << MIN_BITS, sizeof(*table->index));
	if (table->counts && table->index)
		return 0;
	row_table_done(table);
	return -ENOMEM;
}

void row_table_done(struct row_table *table)
{
	if (table->counts)
		munmap(table->counts, table->max_counts * sizeof(*table->counts));
	free(table->index);
	table->counts = NULL;
	table->index = NULL;
}

static inline uint64_t hash(uint32_t context, uint32_t run, uint64_t from, uint64_t to)
{
	return from * 0xbf58476d1ce4e5b9ull + to * 0x94d049bb133111ebull +
	       ((uint64_t)context << 32 | run) * 0x9e3779b97f4a7c15ull;
}

/* The upper bits say where in the index; of those below, as many as an entry has room for. */
static inline uint32_t tag(uint64_t h)
{
	return (uint32_t)(h >> 20) & ~NUMBER_MASK;
}

static inline size_t place(const struct row_table *t, uint64_t h)
{
	return h >> (64 - t->bits);
}

static inline size_t next_place(const struct row_table *t, size_t k)
{
	return (k + 1) & (((size_t)1 << t->bits) - 1);
}

static int grow_index(struct row_table *t)
{
	uint32_t *index = calloc((size_t)2 << t->bits, sizeof(*index));

	if (!index)
		return -ENOMEM;
	free(t->index);
	t->index = index;
	t->bits++;
	for (size_t i = 0; i < t->n_counts; i++) {
		const struct row_count *c = &t->counts[i];
		uint64_t h = hash(c->context, c->run, c->from, c->to);
		size_t k = place(t, h);

		while (t->index[k])
			k = next_place(t, k);
		t->index[k] = tag(h) | (uint32_t)(i + 1);
	}
	return 0;
}

static void turn_away(struct row_table *t, const struct counted_row *row)
{
	t->full_samples += row->to == 0;
	t->full_rows += row->to != 0;
	t->full_runs += row->run != RUN_NONE;
}

/* A new count, entered at @k of the index; NULL if the table is full. */
static struct row_count *add_count(struct row_table *t, size_t k, uint64_t h, uint32_t context,
				   const struct counted_row *row)
{
	struct row_count *c = &t->counts[t->n_counts];

	if (t->n_counts == t->max_counts) {
		turn_away(t, row);
		return NULL;
	}
	/* Hot counts are spread over more pages than the TLB holds, unless pages are huge. */
	if ((t->n_counts * sizeof(*c)) % HUGE_BYTES == 0 && t->n_counts > 0)
		madvise(c, HUGE_BYTES, MADV_HUGEPAGE);
	*c = (struct row_count){
		.from = row->from, .to = row->to, .context = context, .run = row->run
	};
	t->index[k] = tag(h) | (uint32_t)++t->n_counts;
	return c;
}

static inline bool is_of(const struct row_count *c, uint32_t context, const struct counted_row *row)
{
	return c->from == row->from && c->to == row->to && c->run == row->run &&
	       c->context == context;
}

/* The count of the row, looked at; NULL if there is none and the table is full. */
static struct row_count *find_surely(struct row_table *t, uint64_t h, uint32_t context,
				     const struct counted_row *row)
{
	size_t k = place(t, h);

	for (; t->index[k]; k = next_place(t, k)) {
		struct row_count *c = &t->counts[(t->index[k] & NUMBER_MASK) - 1];

		if (is_of(c, context, row))
			return c;
	}
	return add_count(t, k, h, context, row);
}

/* The first count whose piece of the hash is the row's: not looked at yet, but asked for. */
static inline struct row_count *find_probably(struct row_table *t, uint64_t h, uint32_t context,
					      const struct counted_row *row)
{
	size_t k = place(t, h);
	uint32_t e;

	for (; (e = t->index[k]); k = next_place(t, k)) {
		if ((e & ~NUMBER_MASK) == tag(h)) {
			struct row_count *c = &t->counts[(e & NUMBER_MASK) - 1];

			__builtin_prefetch(c, 1);
			return c;
		}
	}
	return add_count(t, k, h, context, row);
}

static void find_batch(struct row_table *t, struct row_batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		b->counts[i] = find_probably(t, b->hashes[i], b->context, &b->rows[i]);
}

static inline void count(struct row_count *c, const struct counted_row *row)
{
	c->taken++;
	c->mispredicted += row->flags & ROW_MISPREDICTED;
	c->predicted += row->flags >> 1 & 1;
	c->aborted += row->flags >> 3 & 1;
	c->kinds |= 1u << row_kind(row->flags);
	c->cycles += row->cycles;
	c->cycles_rows += row->cycles != 0;
}

static void count_batch(struct row_table *t, struct row_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct row_count *c = b->counts[i];

		if (_unlikely_(!c))
			continue;
		if (_unlikely_(!is_of(c, b->context, &b->rows[i])))
			c = find_surely(t, b->hashes[i], b->context, &b->rows[i]);
		if (_likely_(c != NULL))
			count(c, &b->rows[i]);
	}
	b->n = 0;
}

static void hash_batch(const struct row_table *t, struct row_batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct counted_row *row = &b->rows[i];

		b->hashes[i] = hash(b->context, row->run, row->from, row->to);
		__builtin_prefetch(&t->index[place(t, b->hashes[i])]);
	}
}

/* One step on for all batches: that in line behind the one being filled, and the one behind that. */
static void advance(struct row_table *t)
{
	count_batch(t, &t->batches[(t->filling + 1) % 3]);
	find_batch(t, &t->batches[(t->filling + 2) % 3]);
	t->filling = (t->filling + 1) % 3;
}

int row_table_submit(struct row_table *table, uint32_t context, size_t n)
{
	struct row_batch *batch = &table->batches[table->filling];

	/* At most half full, with all that is under way: what is not there is found out in few steps. */
	if (_unlikely_(table->n_counts + 3 * ROW_BATCH > (size_t)1 << (table->bits - 1)) &&
	    table->n_counts < table->max_counts && grow_index(table) < 0)
		return -ENOMEM;
	batch->n = n;
	batch->context = context;
	hash_batch(table, batch);
	advance(table);
	return 0;
}

void row_table_flush(struct row_table *table)
{
	for (unsigned int i = 0; i < 3; i++) {
		table->batches[table->filling].n = 0;
		advance(table);
	}
}

static int drain_counts(struct row_table *t, row_table_handler handler, void *userdata)
{
	const size_t piece = HUGE_BYTES / sizeof(struct row_count);
	int r;

	for (size_t i = 0; i < t->n_counts; i++) {
		if (i % piece == 0 && i > 0)
			madvise(&t->counts[i - piece], HUGE_BYTES, MADV_DONTNEED);
		r = handler(&t->counts[i], userdata);
		if (r < 0)
			return r;
	}
	return 0;
}

int row_table_drain(struct row_table *table, row_table_handler handler, void *userdata)
{
	size_t max_counts = table->max_counts;
	int r, k;

	row_table_flush(table);
	free(TAKE_PTR(table->index));
	r = drain_counts(table, handler, userdata);
	row_table_done(table);
	k = row_table_init(table, max_counts);
	return r < 0 ? r : k;
}
