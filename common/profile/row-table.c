/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Open addressing with linear probing. The hash is multiply-add by odd constants with the high bits
 * taken (Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair problem, 1997):
 * multiplications that do not wait for each other. It is brought into range by one more (Lemire,
 * Fast random integer generation in an interval, 2019), so that the table can grow by a half.
 */
#include "common/profile/row-table.h"

#include <errno.h>
#include <sys/mman.h>

#include "common/record/event.h"
#include "common/util/macro.h"

#define MIN_SLOTS  4096u
#define HUGE_BYTES (2u << 20)
#define HOT        16u /* times taken that make a row a hot one when the table grows */

_Static_assert(sizeof(struct row_slot) == 64, "a slot is a cache line");

/* Zeroed pages of their own; huge ones for a big table, whose slots would each miss the TLB. */
static struct row_slot *slots_new(size_t n)
{
	size_t n_bytes = n * sizeof(struct row_slot);
	void *p = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (n_bytes >= 2 * HUGE_BYTES)
		madvise(p, n_bytes, MADV_HUGEPAGE);
	return p;
}

int row_table_init(struct row_table *table, size_t max_used)
{
	*table = (struct row_table){ .n_slots = MIN_SLOTS, .max_used = max_used };
	table->slots = slots_new(MIN_SLOTS);
	return table->slots ? 0 : -ENOMEM;
}

void row_table_done(struct row_table *table)
{
	if (table->slots)
		munmap(table->slots, table->n_slots * sizeof(*table->slots));
	table->slots = NULL;
}

static inline size_t slot_of(size_t n_slots, uint32_t context, uint32_t run, uint64_t from,
			     uint64_t to)
{
	uint64_t h = from * 0xbf58476d1ce4e5b9ull + to * 0x94d049bb133111ebull +
		     ((uint64_t)context << 32 | run) * 0x9e3779b97f4a7c15ull;

	return (size_t)((unsigned __int128)h * n_slots >> 64);
}

/* Moves the slots whose rows were taken from @least to @most times. */
static void move_slots(const struct row_table *t, struct row_slot *slots, size_t n_slots,
		       uint64_t least, uint64_t most)
{
	for (size_t i = 0; i < t->n_slots; i++) {
		const struct row_slot *s = &t->slots[i];
		size_t k;

		if (s->taken < least || s->taken > most)
			continue;
		k = slot_of(n_slots, s->context, s->run, s->from, s->to);
		while (slots[k].taken != 0)
			k = k + 1 == n_slots ? 0 : k + 1;
		slots[k] = *s;
	}
}

/* The hot rows move first, so that each finds its first place free and is found there in one step. */
static int grow(struct row_table *t)
{
	size_t n_slots = t->n_slots + t->n_slots / 2;
	struct row_slot *slots = slots_new(n_slots);

	if (!slots)
		return -ENOMEM;
	move_slots(t, slots, n_slots, HOT, UINT64_MAX);
	move_slots(t, slots, n_slots, 1, HOT - 1);
	munmap(t->slots, t->n_slots * sizeof(*t->slots));
	t->slots = slots;
	t->n_slots = n_slots;
	return 0;
}

/* The slot of the row, counted or free, from slot @k on. */
static inline struct row_slot *probe(const struct row_table *t, size_t k, uint32_t context,
				     const struct counted_row *row)
{
	for (;; k = k + 1 == t->n_slots ? 0 : k + 1) {
		struct row_slot *s = &t->slots[k];

		if (s->from == row->from && s->to == row->to && s->run == row->run &&
		    s->context == context)
			return s;
		if (s->taken == 0)
			return s;
	}
}

static void turn_away(struct row_table *t, const struct counted_row *row)
{
	t->full_samples += row->to == 0;
	t->full_rows += row->to != 0;
	t->full_runs += row->run != RUN_NONE;
}

static inline void count(struct row_slot *s, const struct counted_row *row)
{
	s->taken++;
	s->mispredicted += row->flags & ROW_MISPREDICTED;
	s->aborted += row->flags >> 3 & 1;
	s->cycles += row->cycles;
	s->cycles_rows += row->cycles != 0;
}

static void count_batch(struct row_table *t, struct row_batch *batch)
{
	for (size_t i = 0; i < batch->n; i++) {
		const struct counted_row *row = &batch->rows[i];
		struct row_slot *s = probe(t, batch->at[i], batch->context, row);

		if (_unlikely_(s->taken == 0)) {
			if (t->n_used >= t->max_used) {
				turn_away(t, row);
				continue;
			}
			t->n_used++;
			s->from = row->from;
			s->to = row->to;
			s->run = row->run;
			s->context = batch->context;
		}
		count(s, row);
	}
	batch->n = 0;
}

void row_table_flush(struct row_table *table)
{
	count_batch(table, &table->batches[!table->filling]);
}

int row_table_submit(struct row_table *table, uint32_t context, size_t n)
{
	struct row_batch *batch = &table->batches[table->filling];

	/* Three quarters full is the most: a row not there is then found out in few steps. */
	if (_unlikely_(table->n_used + 2 * ROW_BATCH > table->n_slots / 4 * 3 &&
		       table->n_used < table->max_used)) {
		row_table_flush(table);
		if (grow(table) < 0)
			return -ENOMEM;
	}
	batch->n = n;
	batch->context = context;
	for (size_t i = 0; i < n; i++) {
		const struct counted_row *row = &batch->rows[i];

		batch->at[i] = slot_of(table->n_slots, context, row->run, row->from, row->to);
		__builtin_prefetch(&table->slots[batch->at[i]], 1);
	}
	row_table_flush(table);
	table->filling = !table->filling;
	return 0;
}

/* Gives back the pages of the slots before number @n, a multiple of a page's worth. */
static void release_before(struct row_table *t, size_t n)
{
	madvise(t->slots, n * sizeof(*t->slots), MADV_DONTNEED);
}

static int drain_slots(struct row_table *t, row_table_handler handler, void *userdata)
{
	const size_t piece = HUGE_BYTES / sizeof(struct row_slot);
	int r;

	for (size_t i = 0; i < t->n_slots; i++) {
		if (i % piece == 0)
			release_before(t, i);
		if (t->slots[i].taken == 0)
			continue;
		r = handler(&t->slots[i], userdata);
		if (r < 0)
			return r;
	}
	return 0;
}

int row_table_drain(struct row_table *table, row_table_handler handler, void *userdata)
{
	int r, k;

	row_table_flush(table);
	r = drain_slots(table, handler, userdata);
	row_table_done(table);
	k = row_table_init(table, table->max_used);
	return r < 0 ? r : k;
}
