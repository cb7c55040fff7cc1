/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table: counters by a key of three numbers. A hash table with open addressing that only grows. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct table_entry {
	uint64_t key[3];
	uint64_t count[4]; /* count[0] is never 0 in an entry that is in use */
};

struct table {
	struct table_entry *entries;
	size_t n_entries;
	size_t n_slots; /* 0 or a power of two */
};

/* Adds to the counters under the key; n0 must not be 0 where the key is new. Ends the program if
 * memory ran out. */
void table_add(struct table *t, uint64_t k0, uint64_t k1, uint64_t k2, const uint64_t add[4]);
void table_done(struct table *t);
/* All entries in the order of their keys; table_add() must not be called afterwards. */
struct table_entry *table_sort(struct table *t, size_t *ret_n);
