/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking up in what the cache holds.
 *
 * A daemon names one window after the other and may not grow with the files it meets, so the cache
 * shrinks after each. Nowhere else: names that are handed out stay where they are until then.
 */
#include "common/symbol/symbolizer.h"

#include <errno.h>
#include <stdlib.h>

#include "common/symbol/lines.h"
#include "common/symbol/object-cache.h"

#define MAX_BYTES   (256UL << 20)
#define MAX_OBJECTS 4096

struct symbolizer {
	struct object_cache *cache;
	size_t max_bytes;
};

int symbolizer_new(struct symbolizer **ret, const struct symbolizer_settings *settings)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->max_bytes = settings->max_bytes ?: MAX_BYTES;
	r = object_cache_new(&s->cache, settings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct symbolizer *symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return NULL;
	object_cache_free(s->cache);
	free(s);
	return NULL;
}

int symbolizer_find(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		    struct symbol *ret)
{
	const struct symbol_entry *e;
	const char *name;
	struct cached_object *c;
	size_t i;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || c->why)
		return r;
	i = symbol_table_find(c->symbols, offset);
	if (i == SYMBOL_TABLE_NONE)
		return 0;
	name = symbol_table_name(c->symbols, i);
	if (!name)
		return -ENOMEM;
	e = symbol_table_get(c->symbols, i);
	*ret = (struct symbol){ .start = e->start, .size = e->size, .name = name };
	return 1;
}

int symbolizer_address(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		       uint64_t *ret)
{
	struct cached_object *c;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || !c->file)
		return r;
	return elf_file_address(c->file, offset, ret) ? 1 : 0;
}

int symbolizer_lines(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		     struct source_frame *ret, size_t n)
{
	struct symbol symbol;
	uint64_t address;
	struct cached_object *c;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (!r)
		r = object_cache_seek_lines(s->cache, object, c);
	if (r < 0 || !c->lines || !elf_file_address(c->file, offset, &address))
		return r;
	r = symbolizer_find(s, object, offset, &symbol);
	return r < 0 ? r : lines_find(c->lines, address, r ? symbol.name : NULL, ret, n);
}

void symbolizer_for_each_problem(const struct symbolizer *s, symbolizer_handler handler,
				 void *userdata)
{
	object_cache_for_each_problem(s->cache, handler, userdata);
}

/* What naming a profile needs to know of one of its objects. */
struct named {
	struct cached_object *cached; /* NULL where it has no symbols */
	uint8_t *seen;                /* a bit for each symbol */
	size_t last;                  /* the symbol found last: the next place is often in it too */
	bool sought;
};

struct naming {
	struct symbolizer *symbolizer;
	struct profile *profile;
	struct named *objects;
};

static int seek_named(struct naming *naming, uint32_t object, struct named *named)
{
	struct cached_object *c;
	int r;

	named->sought = true;
	r = object_cache_get(naming->symbolizer->cache, &naming->profile->objects[object], &c);
	if (r < 0 || c->why)
		return r;
	named->seen = calloc(symbol_table_count(c->symbols) / 8 + 1, 1);
	if (!named->seen)
		return -ENOMEM;
	named->cached = c;
	return 0;
}

/* 1 where the place is in a function, else 0. */
static int mark(struct naming *naming, uint32_t object, uint64_t offset)
{
	struct named *named;
	size_t i;
	int r;

	if (object >= naming->profile->n_objects)
		return 0;
	named = &naming->objects[object];
	if (!named->sought) {
		r = seek_named(naming, object, named);
		if (r < 0)
			return r;
	}
	if (!named->cached)
		return 0;
	i = symbol_table_find_near(named->cached->symbols, offset, named->last);
	if (i == SYMBOL_TABLE_NONE)
		return 0;
	named->last = i;
	named->seen[i / 8] |= (uint8_t)(1U << i % 8);
	return 1;
}

/* See profile_place_frame(). One that only holds the next byte is dropped when it is sealed. */
static int mark_frame(struct naming *naming, struct location frame)
{
	int r = mark(naming, frame.object, frame.offset);

	return r == 0 ? mark(naming, frame.object, frame.offset + 1) : r;
}

static int mark_all(struct naming *naming)
{
	const struct profile *p = naming->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_stacks && r >= 0; i++)
		r = mark_frame(naming, p->stacks[i].frame);
	for (size_t i = 0; i < p->n_branches && r >= 0; i++)
		r = mark(naming, p->branches[i].from.object, p->branches[i].from.offset);
	for (size_t i = 0; i < p->n_branches && r >= 0; i++)
		r = mark(naming, p->branches[i].to.object, p->branches[i].to.offset);
	for (size_t i = 0; i < p->n_blocks && r >= 0; i++)
		r = mark(naming, p->blocks[i].object, p->blocks[i].start);
	for (size_t i = 0; i < p->n_blocks && r >= 0; i++)
		r = mark(naming, p->blocks[i].object, p->blocks[i].end);
	return r < 0 ? r : 0;
}

static int add_functions(struct naming *naming, uint32_t object)
{
	const struct named *named = &naming->objects[object];
	size_t n = named->cached ? symbol_table_count(named->cached->symbols) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct symbol_entry *e = symbol_table_get(named->cached->symbols, i);
		struct profile_function function = {
			.object = object,
			.start = e->start,
			.size = e->size,
		};

		if (!(named->seen[i / 8] & 1U << i % 8))
			continue;
		function.name = symbol_table_name(named->cached->symbols, i);
		if (!function.name || profile_add_function(naming->profile, &function) < 0)
			return -ENOMEM;
	}
	return 0;
}

int symbolizer_name_profile(struct symbolizer *s, struct profile *profile)
{
	struct naming naming = { .symbolizer = s, .profile = profile };
	size_t n = profile->n_objects;
	int r;

	naming.objects = calloc(n ? n : 1, sizeof(*naming.objects));
	if (!naming.objects)
		return -ENOMEM;
	r = mark_all(&naming);
	for (uint32_t i = 0; i < n && !r; i++)
		r = add_functions(&naming, i);
	for (size_t i = 0; i < n; i++)
		free(naming.objects[i].seen);
	free(naming.objects);
	object_cache_shrink(s->cache, s->max_bytes, MAX_OBJECTS);
	return r;
}
