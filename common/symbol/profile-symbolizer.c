/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/profile-symbolizer.h"

#include <errno.h>
#include <stdlib.h>

#include "common/symbol/fingerprinter.h"
#include "common/util/cleanup.h"

/* One of the profile's objects. */
struct named {
	struct cached_object *cached; /* NULL until it is known */
	uint8_t *whole;               /* with symbols: a bit for each that became known wholly */
	size_t last;                  /* the symbol found last: the next place is often in it too */
	bool sought;
};

struct profile_symbolizer {
	struct object_cache *cache;
	size_t max_bytes;
	struct profile *profile;
	struct named *objects;
	bool read;  /* symbols were read in this walk */
	bool again; /* there was no room for all of them */
};

/* 1 with symbols at hand, 0 where there are none, -EAGAIN where there is no room for them now. */
static int wake(struct profile_symbolizer *naming, uint32_t object, struct named *named)
{
	struct cached_object *c = named->cached;
	int r;

	if (!c || (!c->symbols && !c->why)) {
		if (naming->read && object_cache_bytes(naming->cache) >= naming->max_bytes) {
			naming->again = true;
			return -EAGAIN;
		}
		r = object_cache_get(naming->cache, &naming->profile->objects[object], &c);
		if (r < 0)
			return r;
		naming->read |= c->symbols != NULL;
		named->cached = c;
	}
	if (!c->symbols)
		return 0;
	named->last = SYMBOL_TABLE_NONE;
	named->whole = calloc(symbol_table_count(c->symbols) / 8 + 1, 1);
	return named->whole ? 1 : -ENOMEM;
}

/* Finds a place in the symbols, and has it known: 1 where it is in a function, else 0. */
static int learn(struct named *named, uint64_t offset)
{
	struct symbol_table *symbols = named->cached->symbols;
	size_t i = symbol_table_find_near(symbols, offset, named->last);
	struct symbol_cache_range stretch = { .marked = true };
	struct symbol_entry e;

	symbol_table_get_range(symbols, offset, i, &stretch.first, &stretch.last);
	if (i == SYMBOL_TABLE_NONE)
		return symbol_cache_add(&named->cached->known, &stretch);
	named->last = i;
	e = symbol_table_get(symbols, i);
	stretch.start = e.start;
	stretch.size = e.size;
	stretch.name = (char *)symbol_table_name(symbols, i);
	if (!stretch.name || symbol_cache_add(&named->cached->known, &stretch) < 0)
		return -ENOMEM;
	if (stretch.first == e.start && stretch.last == e.start + e.size - 1)
		named->whole[i / 8] |= (uint8_t)(1U << i % 8);
	return 1;
}

/* True if the place is in a function that is known wholly since this walk began. */
static bool is_learnt(struct named *named, uint64_t offset)
{
	size_t i = symbol_table_find_near(named->cached->symbols, offset, named->last);

	if (i == SYMBOL_TABLE_NONE)
		return false;
	named->last = i;
	return named->whole[i / 8] & 1U << i % 8;
}

/* 1 where the place is in a function or will be looked up later, else 0. */
static int mark(struct profile_symbolizer *naming, uint32_t object, uint64_t offset)
{
	struct named *named;
	int r;

	if (object >= naming->profile->n_objects)
		return 0;
	named = &naming->objects[object];
	if (!named->sought)
		named->cached = object_cache_find(naming->cache, &naming->profile->objects[object]);
	named->sought = true;
	r = named->cached ? symbol_cache_mark(&named->cached->known, offset) : -ENOENT;
	if (r != -ENOENT)
		return r;
	if (!named->whole) {
		r = wake(naming, object, named);
		if (r <= 0)
			return r == -EAGAIN ? 1 : r;
	}
	return is_learnt(named, offset) ? 1 : learn(named, offset);
}

/* See profile_place_frame(). One that only holds the next byte is dropped when it is sealed. */
static int mark_frame(struct profile_symbolizer *naming, struct location frame)
{
	int r = mark(naming, frame.object, frame.offset);

	return r == 0 ? mark(naming, frame.object, frame.offset + 1) : r;
}

static int mark_all(struct profile_symbolizer *naming)
{
	const struct profile *p = naming->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_stacks && r >= 0; i++)
		r = mark_frame(naming, p->stacks[i].frame);
	for (size_t i = 0; i < p->n_streams && r >= 0; i++)
		r = mark(naming, p->streams[i].from.object, p->streams[i].from.offset);
	for (size_t i = 0; i < p->n_streams && r >= 0; i++)
		r = mark(naming, p->streams[i].to.object, p->streams[i].to.offset);
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

static void end_walk(struct profile_symbolizer *naming)
{
	for (size_t i = 0; i < naming->profile->n_objects; i++) {
		struct named *named = &naming->objects[i];

		free(TAKE_PTR(named->whole));
		if (named->cached)
			symbol_cache_finalize(&named->cached->known);
	}
}

static int walk(struct profile_symbolizer *naming)
{
	int r;

	do {
		naming->read = naming->again = false;
		r = mark_all(naming);
		end_walk(naming);
		if (naming->again)
			object_cache_drop_symbols(naming->cache, naming->max_bytes);
	} while (r >= 0 && naming->again);
	return r;
}

/* Adds those that a place was found in. */
static int add_functions(struct profile_symbolizer *naming, uint32_t object)
{
	const struct cached_object *c = naming->objects[object].cached;

	for (size_t i = 0; c && i < c->known.n; i++) {
		const struct symbol_cache_range *known = &c->known.stretches[i];
		const struct profile_function function = {
			.object = object,
			.start = known->start,
			.size = known->size,
			.name = known->name,
			.fingerprint = known->fingerprint,
		};

		if (known->marked && known->name &&
		    profile_add_function(naming->profile, &function) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_fingerprints(struct profile_symbolizer *naming, size_t max_code_bytes)
{
	struct fingerprinter fingerprinter;
	int r = 0;

	fingerprinter_init(&fingerprinter, naming->cache, max_code_bytes);
	for (size_t i = 0; i < naming->profile->n_objects && r >= 0; i++) {
		if (!naming->objects[i].cached)
			continue;
		r = fingerprinter_take(&fingerprinter, &naming->profile->objects[i],
				       naming->objects[i].cached);
		if (object_cache_bytes(naming->cache) > naming->max_bytes)
			object_cache_drop_symbols(naming->cache, naming->max_bytes);
	}
	fingerprinter_done(&fingerprinter);
	return r;
}

/* Not before all are added: several of the profile's objects may be one in the cache. */
static void unmark_all(struct profile_symbolizer *naming)
{
	for (size_t i = 0; i < naming->profile->n_objects; i++)
		if (naming->objects[i].cached)
			symbol_cache_unmark(&naming->objects[i].cached->known);
}

int profile_symbolizer_run(struct object_cache *cache, size_t max_bytes, size_t max_code_bytes,
			   struct profile *profile)
{
	struct profile_symbolizer naming = { .cache = cache,
					     .max_bytes = max_bytes,
					     .profile = profile };
	int r;

	naming.objects = calloc(profile->n_objects ?: 1, sizeof(*naming.objects));
	if (!naming.objects)
		return -ENOMEM;
	r = walk(&naming);
	if (r >= 0 && max_code_bytes > 0)
		r = take_fingerprints(&naming, max_code_bytes);
	for (uint32_t i = 0; i < profile->n_objects && r >= 0; i++)
		r = add_functions(&naming, i);
	unmark_all(&naming);
	free(naming.objects);
	return r < 0 ? r : 0;
}
