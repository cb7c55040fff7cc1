/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Open addressing with linear probing. The hash is multiply-add by odd constants with the high bits
 * taken (Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair problem, 1997):
 * four multiplications that do not wait for each other.
 */
#include "common/profile/row-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/record/event.h"
#include "common/util/macro.h"

#define MIN_BITS 12
#define BATCH    64u /* rows whose slots are asked for together */

_Static_assert(sizeof(struct row_slot) == 64, "a slot is a cache line");

/* Slots in pages of their own: zeroed by the kernel when first touched, aligned to cache lines. */
static struct row_slot *slots_new(unsigned int bits)
{
	void *p = mmap(NULL, sizeof(struct row_slot) << bits, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void slots_free(struct row_slot *slots, unsigned int bits)
{
	if (slots)
		munmap(slots, sizeof(*slots) << bits);
}

int row_table_init(struct row_table *table, size_t max_used)
{
	*table = (struct row_table){ .bits = MIN_BITS, .max_used = max_used };
	table->slots = slots_new(MIN_BITS);
	return table->slots ? 0 : -ENOMEM;
}

void row_table_done(struct row_table *table)
{
	slots_free(table->slots, table->bits);
}

static inline size_t slot_of(const struct row_table *t, uint32_t context, uint64_t begin,
			     uint64_t from, uint64_t to)
{
	uint64_t h = begin * 0x9e3779b97f4a7c15ull + from * 0xbf58476d1ce4e5b9ull +
		     to * 0x94d049bb133111ebull + context * 0xd6e8feb86659fd93ull;

	return h >> (64 - t->bits);
}

static int grow(struct row_table *t)
{
	struct row_table bigger = { .bits = t->bits + 1 };
	size_t mask = row_table_n_slots(&bigger) - 1;

	bigger.slots = slots_new(bigger.bits);
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < row_table_n_slots(t); i++) {
		const struct row_slot *s = &t->slots[i];
		size_t k;

		if (s->taken == 0)
			continue;
		k = slot_of(&bigger, s->context, s->begin, s->from, s->to);
		while (bigger.slots[k].taken != 0)
			k = (k + 1) & mask;
		bigger.slots[k] = *s;
	}
	slots_free(t->slots, t->bits);
	t->slots = bigger.slots;
	t->bits = bigger.bits;
	return 0;
}

/* The slot of the row, counted or free, from slot @k on. */
static inline struct row_slot *probe(const struct row_table *t, size_t k, uint32_t context,
				     const struct counted_row *row)
{
	size_t mask = row_table_n_slots(t) - 1;
	struct row_slot *s;

	for (;; k = (k + 1) & mask) {
		s = &t->slots[k];
		if (s->from == row->from && s->to == row->to && s->begin == row->begin &&
		    s->context == context)
			return s;
		if (s->taken == 0)
			return s;
	}
}

static inline void count(struct row_slot *s, uint64_t flags)
{
	uint64_t cycles = flags >> 4 & 0xffff;

	s->taken++;
	s->mispredicted += flags & ROW_MISPREDICTED;
	s->aborted += flags >> 3 & 1;
	s->cycles += cycles;
	s->cycles_rows += cycles != 0;
}

static void add_batch(struct row_table *t, uint32_t context, const struct counted_row *rows,
		      size_t n, struct row_table_full *full)
{
	size_t at[BATCH];

	for (size_t i = 0; i < n; i++) {
		at[i] = slot_of(t, context, rows[i].begin, rows[i].from, rows[i].to);
		__builtin_prefetch(&t->slots[at[i]], 1);
	}
	for (size_t i = 0; i < n; i++) {
		struct row_slot *s = probe(t, at[i], context, &rows[i]);

		if (_unlikely_(s->taken == 0)) {
			if (t->n_used >= t->max_used) {
				full->rows++;
				full->runs += rows[i].begin != 0;
				continue;
			}
			t->n_used++;
			s->begin = rows[i].begin;
			s->from = rows[i].from;
			s->to = rows[i].to;
			s->context = context;
		}
		count(s, rows[i].flags);
	}
}

int row_table_add(struct row_table *table, uint32_t context, const struct counted_row *rows,
		  size_t n, struct row_table_full *full)
{
	for (size_t done = 0; done < n;) {
		size_t n_batch = MIN(n - done, (size_t)BATCH);

		/* Three quarters full is the most: a row not there is then found out in few steps. */
		if (table->n_used < table->max_used &&
		    table->n_used + n_batch > row_table_n_slots(table) / 4 * 3 && grow(table) < 0)
			return -ENOMEM;
		add_batch(table, context, rows + done, n_batch, full);
		done += n_batch;
	}
	return 0;
}

int row_table_clear(struct row_table *table)
{
	size_t max_used = table->max_used;

	row_table_done(table);
	return row_table_init(table, max_used);
}
