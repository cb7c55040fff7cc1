/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/symbol-cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/compare.h"

void symbol_cache_done(struct symbol_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++)
		free(cache->ranges[i].name);
	free(cache->ranges);
	*cache = (struct symbol_cache){ 0 };
}

/* How many bytes of a name are kept: no part of a UTF-8 sequence. */
static size_t length_to_keep(const struct symbol_cache *cache, const char *name)
{
	size_t n = strlen(name);

	if (n <= SYMBOL_CACHE_SHORT || cache->name_limit == 0 ||
	    cache->name_bytes + n < cache->name_limit)
		return n;
	n = SYMBOL_CACHE_SHORT;
	while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	return n;
}

int symbol_cache_add(struct symbol_cache *cache, const struct symbol_cache_range *range)
{
	struct symbol_cache_range copy = *range;
	int r = ARRAY_RESERVE(&cache->ranges, &cache->cap, cache->n + 1);

	if (r < 0)
		return r;
	if (range->name) {
		copy.name = strndup(range->name, length_to_keep(cache, range->name));
		if (!copy.name)
			return -ENOMEM;
		cache->name_bytes += strlen(copy.name) + 1;
	}
	cache->ranges[cache->n++] = copy;
	return 0;
}

static int compare_ranges(const void *x, const void *y)
{
	const struct symbol_cache_range *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(a->first, b->first));
	return COMPARE(b->last, a->last);
}

/* Ranges with the same function may overlap: one inside of another is redundant. */
void symbol_cache_finalize(struct symbol_cache *cache)
{
	size_t n = 0;

	if (cache->n == cache->n_finalized)
		return;
	qsort(cache->ranges, cache->n, sizeof(*cache->ranges), compare_ranges);
	for (size_t i = 0; i < cache->n; i++) {
		struct symbol_cache_range *range = &cache->ranges[i];

		if (n && range->last <= cache->ranges[n - 1].last) {
			cache->ranges[n - 1].weight += range->weight;
			cache->name_bytes -= range->name ? strlen(range->name) + 1 : 0;
			free(range->name);
			continue;
		}
		cache->ranges[n++] = *range;
	}
	cache->n = cache->n_finalized = n;
}

int symbol_cache_rename(struct symbol_cache *cache, size_t i, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	cache->name_bytes += strlen(copy) - strlen(cache->ranges[i].name);
	free(cache->ranges[i].name);
	cache->ranges[i].name = copy;
	return 0;
}

int64_t symbol_cache_find_number(const struct symbol_cache *cache, uint64_t offset)
{
	size_t low = 0, n = cache->n_finalized;

	if (n == 0 || offset < cache->ranges[0].first)
		return -ENOENT;
	/* finds the last range that begins at or before the offset */
	while (n > 1) {
		size_t half = n / 2;

		low = cache->ranges[low + half].first <= offset ? low + half : low;
		n -= half;
	}
	return offset > cache->ranges[low].last ? -ENOENT : (int64_t)low;
}

const struct symbol_cache_range *symbol_cache_find(const struct symbol_cache *cache,
						   uint64_t offset)
{
	int64_t number = symbol_cache_find_number(cache, offset);

	return number < 0 ? NULL : &cache->ranges[number];
}

bool symbol_cache_lacks_fingerprints(const struct symbol_cache *cache, uint64_t least)
{
	for (size_t i = 0; i < cache->n; i++)
		if (symbol_cache_lacks_fingerprint(&cache->ranges[i], least))
			return true;
	return false;
}

void symbol_cache_unmark(struct symbol_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++)
		cache->ranges[i].weight = 0;
}

size_t symbol_cache_bytes(const struct symbol_cache *cache)
{
	return cache->cap * sizeof(*cache->ranges) + cache->name_bytes;
}
