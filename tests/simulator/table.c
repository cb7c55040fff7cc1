/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table: counters by a key of three numbers.
 *
 * Every taken branch of a simulated program goes through here once or twice, so a look-up is one
 * multiplication and, mostly, one cache line. A failed allocation ends the program: a truth with
 * holes would be worse than none.
 */
#include "tests/simulator/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t table_slot(const struct table *t, const uint64_t key[3])
{
	uint64_t h = key[0] * 0x9e3779b97f4a7c15ULL;

	h = (h ^ (h >> 29) ^ key[1]) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ (h >> 32) ^ key[2]) * 0x94d049bb133111ebULL;
	return (h ^ (h >> 31)) & (t->n_slots - 1);
}

static struct table_entry *table_find(struct table *t, const uint64_t key[3])
{
	size_t slot = table_slot(t, key);

	while (t->entries[slot].count[0] &&
	       memcmp(t->entries[slot].key, key, sizeof(t->entries[slot].key)))
		slot = (slot + 1) & (t->n_slots - 1);
	return &t->entries[slot];
}

static void table_grow(struct table *t)
{
	struct table old = *t;
	size_t i;

	t->n_slots = old.n_slots ? old.n_slots * 2 : 1024;
	t->entries = calloc(t->n_slots, sizeof(*t->entries));
	if (!t->entries) {
		perror("branch-simulator: table");
		exit(EXIT_FAILURE);
	}
	for (i = 0; i < old.n_slots; i++)
		if (old.entries[i].count[0])
			*table_find(t, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

void table_add(struct table *t, uint64_t k0, uint64_t k1, uint64_t k2, const uint64_t add[4])
{
	const uint64_t key[3] = { k0, k1, k2 };
	struct table_entry *e;
	int i;

	if (2 * t->n_entries >= t->n_slots)
		table_grow(t);
	e = table_find(t, key);
	if (!e->count[0]) {
		memcpy(e->key, key, sizeof(key));
		t->n_entries++;
	}
	for (i = 0; i < 4; i++)
		e->count[i] += add[i];
}

static int entry_compare(const void *a, const void *b)
{
	const struct table_entry *x = a, *y = b;
	int i;

	for (i = 0; i < 3; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

struct table_entry *table_sort(struct table *t, size_t *ret_n)
{
	size_t i, n = 0;

	for (i = 0; i < t->n_slots; i++)
		if (t->entries[i].count[0])
			t->entries[n++] = t->entries[i];
	if (n > 0)
		qsort(t->entries, n, sizeof(*t->entries), entry_compare);
	*ret_n = n;
	return t->entries;
}

void table_done(struct table *t)
{
	free(t->entries);
	*t = (struct table){ 0 };
}
