/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/line-cache.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/strings.h"

#define FREE     UINT32_MAX /* n_frames of an entry without an offset */
#define MIN_SIZE 64

void line_cache_done(struct line_cache *cache)
{
	free(cache->entries);
	free(cache->frames);
	strings_free(cache->strings);
	*cache = (struct line_cache){};
}

/* The entry of @offset, or the free one where it belongs. */
static struct line_cache_entry *seek(struct line_cache_entry *entries, size_t cap, uint64_t offset)
{
	size_t i = (size_t)((offset * 0x9e3779b97f4a7c15) >> 32) & (cap - 1);

	while (entries[i].n_frames != FREE && entries[i].offset != offset)
		i = (i + 1) & (cap - 1);
	return &entries[i];
}

/* At most three of four entries are in use. */
static int reserve(struct line_cache *cache)
{
	size_t cap = cache->cap ? 2 * cache->cap : MIN_SIZE;
	struct line_cache_entry *entries;

	if (4 * (cache->n + 1) <= 3 * cache->cap)
		return 0;
	if (ARRAY_ALLOCATE(&entries, cap) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < cap; i++)
		entries[i].n_frames = FREE;
	for (size_t i = 0; i < cache->cap; i++)
		if (cache->entries[i].n_frames != FREE)
			*seek(entries, cap, cache->entries[i].offset) = cache->entries[i];
	free(cache->entries);
	cache->entries = entries;
	cache->cap = cap;
	return 0;
}

static int copy_string(struct strings *strings, const char **string)
{
	if (!*string)
		return 0;
	*string = strings_intern(strings, *string);
	return *string ? 0 : -ENOMEM;
}

static int copy_frames(struct line_cache *cache, const struct source_frame *frames, size_t n)
{
	int r = cache->strings ? 0 : strings_new(&cache->strings);

	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct source_frame *copy = &cache->frames[cache->n_frames + i];

		*copy = frames[i];
		r = copy_string(cache->strings, &copy->function);
		if (r >= 0)
			r = copy_string(cache->strings, &copy->file);
	}
	return r;
}

int line_cache_add(struct line_cache *cache, uint64_t offset, const struct source_frame *frames,
		   size_t n)
{
	if (cache->n_frames + n >= UINT32_MAX || reserve(cache) < 0 ||
	    ARRAY_RESERVE(&cache->frames, &cache->cap_frames, cache->n_frames + n) < 0 ||
	    copy_frames(cache, frames, n) < 0)
		return -ENOMEM;
	*seek(cache->entries, cache->cap, offset) = (struct line_cache_entry){
		.offset = offset,
		.first = (uint32_t)cache->n_frames,
		.n_frames = (uint32_t)n,
	};
	cache->n_frames += n;
	cache->n++;
	return 0;
}

int line_cache_find(const struct line_cache *cache, uint64_t offset,
		    const struct source_frame **ret)
{
	const struct line_cache_entry *entry;

	if (cache->n == 0)
		return -ENOENT;
	entry = seek(cache->entries, cache->cap, offset);
	if (entry->n_frames == FREE)
		return -ENOENT;
	*ret = cache->frames + entry->first;
	return (int)entry->n_frames;
}
