/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/naive/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define MAX_SHOWN 5 /* differences; one is seldom enough to see what is wrong */

void tally_add(struct tally *tally, const struct tally_entry *entry)
{
	if (ARRAY_RESERVE(&tally->entries, &tally->cap, tally->n + 1) < 0)
		abort();
	tally->entries[tally->n++] = *entry;
}

static int compare_keys(const void *a, const void *b)
{
	const struct tally_entry *x = a, *y = b;

	for (size_t i = 0; i < TALLY_KEYS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

void tally_merge(struct tally *tally)
{
	size_t n = 0;

	if (tally->n == 0)
		return;
	qsort(tally->entries, tally->n, sizeof(*tally->entries), compare_keys);
	for (size_t i = 1; i < tally->n; i++) {
		struct tally_entry *last = &tally->entries[n], *e = &tally->entries[i];

		if (compare_keys(last, e) != 0) {
			tally->entries[++n] = *e;
			continue;
		}
		for (size_t k = 0; k < TALLY_COUNTS; k++)
			last->count[k] += e->count[k];
	}
	tally->n = n + 1;
}

void tally_done(struct tally *tally)
{
	free(tally->entries);
	*tally = (struct tally){ 0 };
}

uint64_t tally_sum(const struct tally *tally, size_t i)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < tally->n; k++)
		sum += tally->entries[k].count[i];
	return sum;
}

const struct tally_entry *tally_find(const struct tally *tally, const uint64_t key[TALLY_KEYS])
{
	struct tally_entry wanted = { 0 };

	memcpy(wanted.key, key, sizeof(wanted.key));
	if (tally->n == 0)
		return NULL;
	return bsearch(&wanted, tally->entries, tally->n, sizeof(wanted), compare_keys);
}

static void show(const char *title, const char *what, const struct tally_entry *e)
{
	fprintf(stderr, "%s: %s", title, what);
	for (size_t i = 0; i < TALLY_KEYS; i++)
		fprintf(stderr, " %" PRIx64, e->key[i]);
	fprintf(stderr, ":");
	for (size_t i = 0; i < TALLY_COUNTS; i++)
		fprintf(stderr, " %" PRIu64, e->count[i]);
	fprintf(stderr, "\n");
}

bool tally_equal(const struct tally *got, const struct tally *expected, const char *title)
{
	size_t i = 0, k = 0, n_shown = 0;

	while ((i < got->n || k < expected->n) && n_shown < MAX_SHOWN) {
		const struct tally_entry *g = i < got->n ? &got->entries[i] : NULL;
		const struct tally_entry *e = k < expected->n ? &expected->entries[k] : NULL;
		int c = !g ? 1 : !e ? -1 : compare_keys(g, e);

		if (c == 0 && memcmp(g->count, e->count, sizeof(g->count)) != 0) {
			show(title, "got", g);
			show(title, "but expected", e);
			n_shown++;
		} else if (c != 0) {
			show(title, c < 0 ? "unexpected" : "missing", c < 0 ? g : e);
			n_shown++;
		}
		i += c <= 0;
		k += c >= 0;
	}
	return n_shown == 0;
}
