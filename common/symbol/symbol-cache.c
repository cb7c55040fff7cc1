/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/symbol-cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/compare.h"

void symbol_cache_done(struct symbol_cache *known)
{
	for (size_t i = 0; i < known->n; i++)
		free(known->stretches[i].name);
	free(known->stretches);
	*known = (struct symbol_cache){ 0 };
}

int symbol_cache_add(struct symbol_cache *known, const struct symbol_cache_range *stretch)
{
	struct symbol_cache_range copy = *stretch;
	int r = ARRAY_RESERVE(&known->stretches, &known->cap, known->n + 1);

	if (r < 0)
		return r;
	if (stretch->name) {
		copy.name = strdup(stretch->name);
		if (!copy.name)
			return -ENOMEM;
		known->name_bytes += strlen(copy.name) + 1;
	}
	known->stretches[known->n++] = copy;
	return 0;
}

static int compare_stretches(const void *x, const void *y)
{
	const struct symbol_cache_range *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(a->first, b->first));
	return COMPARE(b->last, a->last);
}

/* Stretches of one answer may overlap: what lies within another says nothing more. */
void symbol_cache_finalize(struct symbol_cache *known)
{
	size_t n = 0;

	if (known->n == known->n_sealed)
		return;
	qsort(known->stretches, known->n, sizeof(*known->stretches), compare_stretches);
	for (size_t i = 0; i < known->n; i++) {
		struct symbol_cache_range *stretch = &known->stretches[i];

		if (n && stretch->last <= known->stretches[n - 1].last) {
			known->stretches[n - 1].marked |= stretch->marked;
			known->name_bytes -= stretch->name ? strlen(stretch->name) + 1 : 0;
			free(stretch->name);
			continue;
		}
		known->stretches[n++] = *stretch;
	}
	known->n = known->n_sealed = n;
}

int symbol_cache_mark(struct symbol_cache *known, uint64_t offset)
{
	size_t low = 0, n = known->n_sealed;

	if (n == 0 || offset < known->stretches[0].first)
		return -ENOENT;
	/* ends at the last that begins at or before the offset */
	while (n > 1) {
		size_t half = n / 2;

		low = known->stretches[low + half].first <= offset ? low + half : low;
		n -= half;
	}
	if (offset > known->stretches[low].last)
		return -ENOENT;
	known->stretches[low].marked = true;
	return known->stretches[low].name ? 1 : 0;
}

void symbol_cache_unmark(struct symbol_cache *known)
{
	for (size_t i = 0; i < known->n; i++)
		known->stretches[i].marked = false;
}

size_t symbol_cache_bytes(const struct symbol_cache *known)
{
	return known->cap * sizeof(*known->stretches) + known->name_bytes;
}
