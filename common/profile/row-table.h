/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counts of one window's branch rows, by raw address: where the time of the engine goes.
 *
 * One hash step counts a branch and the straight run before it: the key is (context, begin, from, to),
 * begin being the `to` of the row before. A slot is one cache line. All slots of a snapshot's rows are
 * asked for from memory before the first of them is used, so that their cache misses overlap.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A branch row that can be believed. */
struct counted_row {
	uint64_t begin; /* of the run that ended in it; 0: none, or not to be believed */
	uint64_t from, to;
	uint64_t flags;
};

struct row_slot {
	uint64_t begin, from, to;
	uint32_t context;
	uint32_t aborted;
	uint64_t taken; /* 0: the slot is free */
	uint64_t mispredicted;
	uint64_t cycles;
	uint64_t cycles_rows;
};

/* What a full table turned away. */
struct row_table_full {
	uint64_t rows;
	uint64_t runs; /* that ended in these rows */
};

struct row_table {
	struct row_slot *slots; /* 1 << bits of them */
	unsigned int bits;
	size_t n_used, max_used;
};

/* At most @max_used distinct rows. 0 or -ENOMEM. */
int row_table_init(struct row_table *table, size_t max_used);
void row_table_done(struct row_table *table);

/*
 * Counts the @n rows of one snapshot; those that find the table full are left out and counted in @full.
 * 0 or -ENOMEM.
 */
int row_table_add(struct row_table *table, uint32_t context, const struct counted_row *rows,
		  size_t n, struct row_table_full *full);

/* Empties it. 0, or -ENOMEM: it cannot be used any more but by row_table_done(). */
int row_table_clear(struct row_table *table);

static inline size_t row_table_n_slots(const struct row_table *table)
{
	return (size_t)1 << table->bits;
}
