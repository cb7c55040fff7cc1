/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/profile-symbolizer.h"

#include <errno.h>
#include <stdlib.h>

#include "common/symbol/fingerprinter.h"
#include "common/util/cleanup.h"

/* The state of one object of the profile. */
struct object_state {
	struct cached_object *cached; /* NULL until it is in the cache */
	uint8_t *whole;               /* with symbols: a bit for each that was added as a whole */
	size_t last; /* the last symbol found: the next location is often in it too */
	bool sought;
};

struct profile_symbolizer {
	struct object_cache *cache;
	size_t max_bytes;
	struct profile *profile;
	struct object_state *objects;
	bool read;  /* symbols were read in this pass */
	bool again; /* not all symbols had room: another pass is needed */
};

/* 1 with symbols; 0 if there are none; -EAGAIN if there is no room for them in this pass. */
static int load_symbols(struct profile_symbolizer *s, uint32_t object, struct object_state *state)
{
	struct cached_object *c = state->cached;
	int r;

	if (!c || (!c->symbols && !c->why)) {
		if (s->read && object_cache_bytes(s->cache) >= s->max_bytes) {
			s->again = true;
			return -EAGAIN;
		}
		r = object_cache_get(s->cache, &s->profile->objects[object], &c);
		if (r < 0)
			return r;
		s->read |= c->symbols != NULL;
		state->cached = c;
	}
	if (!c->symbols)
		return 0;
	state->last = SYMBOL_TABLE_NONE;
	state->whole = calloc(symbol_table_count(c->symbols) / 8 + 1, 1);
	return state->whole ? 1 : -ENOMEM;
}

/* Finds a location in the symbols and adds it to the symbol cache. 1 if in a function, else 0. */
static int look_up(struct object_state *state, uint64_t offset)
{
	struct symbol_table *symbols = state->cached->symbols;
	size_t i = symbol_table_find_near(symbols, offset, state->last);
	struct symbol_cache_range range = { .marked = true };
	struct symbol_entry e;

	symbol_table_get_range(symbols, offset, i, &range.first, &range.last);
	if (i == SYMBOL_TABLE_NONE)
		return symbol_cache_add(&state->cached->symbol_cache, &range);
	state->last = i;
	e = symbol_table_get(symbols, i);
	range.start = e.start;
	range.size = e.size;
	range.name = (char *)symbol_table_name(symbols, i);
	if (!range.name || symbol_cache_add(&state->cached->symbol_cache, &range) < 0)
		return -ENOMEM;
	if (range.first == e.start && range.last == e.start + e.size - 1)
		state->whole[i / 8] |= (uint8_t)(1U << i % 8);
	return 1;
}

/* True if the location is in a function that this pass added as a whole. */
static bool is_added(struct object_state *state, uint64_t offset)
{
	size_t i = symbol_table_find_near(state->cached->symbols, offset, state->last);

	if (i == SYMBOL_TABLE_NONE)
		return false;
	state->last = i;
	return state->whole[i / 8] & 1U << i % 8;
}

/* 1 if the location is in a function or waits for the next pass, else 0. */
static int mark(struct profile_symbolizer *s, uint32_t object, uint64_t offset)
{
	struct object_state *state;
	int r;

	if (object >= s->profile->n_objects)
		return 0;
	state = &s->objects[object];
	if (!state->sought)
		state->cached = object_cache_find(s->cache, &s->profile->objects[object]);
	state->sought = true;
	r = state->cached ? symbol_cache_mark(&state->cached->symbol_cache, offset) : -ENOENT;
	if (r != -ENOENT)
		return r;
	if (!state->whole) {
		r = load_symbols(s, object, state);
		if (r <= 0)
			return r == -EAGAIN ? 1 : r;
	}
	return is_added(state, offset) ? 1 : look_up(state, offset);
}

/* See profile_place_frame(). Finalizing drops a function that is not used in the end. */
static int mark_frame(struct profile_symbolizer *s, struct location frame)
{
	int r = mark(s, frame.object, frame.offset);

	return r == 0 ? mark(s, frame.object, frame.offset + 1) : r;
}

static int mark_all(struct profile_symbolizer *s)
{
	const struct profile *p = s->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_stacks && r >= 0; i++)
		r = mark_frame(s, p->stacks[i].frame);
	for (size_t i = 0; i < p->n_streams && r >= 0; i++)
		r = mark(s, p->streams[i].from.object, p->streams[i].from.offset);
	for (size_t i = 0; i < p->n_streams && r >= 0; i++)
		r = mark(s, p->streams[i].to.object, p->streams[i].to.offset);
	for (size_t i = 0; i < p->n_branches && r >= 0; i++)
		r = mark(s, p->branches[i].from.object, p->branches[i].from.offset);
	for (size_t i = 0; i < p->n_branches && r >= 0; i++)
		r = mark(s, p->branches[i].to.object, p->branches[i].to.offset);
	for (size_t i = 0; i < p->n_blocks && r >= 0; i++)
		r = mark(s, p->blocks[i].object, p->blocks[i].start);
	for (size_t i = 0; i < p->n_blocks && r >= 0; i++)
		r = mark(s, p->blocks[i].object, p->blocks[i].end);
	return r < 0 ? r : 0;
}

static void end_pass(struct profile_symbolizer *s)
{
	for (size_t i = 0; i < s->profile->n_objects; i++) {
		struct object_state *state = &s->objects[i];

		free(TAKE_PTR(state->whole));
		if (state->cached)
			symbol_cache_finalize(&state->cached->symbol_cache);
	}
}

static int run_passes(struct profile_symbolizer *s)
{
	int r;

	do {
		s->read = s->again = false;
		r = mark_all(s);
		end_pass(s);
		if (s->again)
			object_cache_drop_symbols(s->cache, s->max_bytes);
	} while (r >= 0 && s->again);
	return r;
}

/* Adds the functions with a location of the profile. */
static int add_functions(struct profile_symbolizer *s, uint32_t object)
{
	const struct cached_object *c = s->objects[object].cached;

	for (size_t i = 0; c && i < c->symbol_cache.n; i++) {
		const struct symbol_cache_range *range = &c->symbol_cache.ranges[i];
		const struct profile_function function = {
			.object = object,
			.start = range->start,
			.size = range->size,
			.name = range->name,
			.fingerprint = range->fingerprint,
		};

		if (range->marked && range->name && profile_add_function(s->profile, &function) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_fingerprints(struct profile_symbolizer *s, size_t max_code_bytes)
{
	struct fingerprinter fingerprinter;
	int r = 0;

	fingerprinter_init(&fingerprinter, s->cache, max_code_bytes);
	for (size_t i = 0; i < s->profile->n_objects && r >= 0; i++) {
		if (!s->objects[i].cached)
			continue;
		r = fingerprinter_take(&fingerprinter, &s->profile->objects[i],
				       s->objects[i].cached);
		if (object_cache_bytes(s->cache) > s->max_bytes)
			object_cache_drop_symbols(s->cache, s->max_bytes);
	}
	fingerprinter_done(&fingerprinter);
	return r;
}

/* Only after all were added: several objects of the profile may share one of the cache. */
static void unmark_all(struct profile_symbolizer *s)
{
	for (size_t i = 0; i < s->profile->n_objects; i++)
		if (s->objects[i].cached)
			symbol_cache_unmark(&s->objects[i].cached->symbol_cache);
}

int profile_symbolizer_run(struct object_cache *cache, size_t max_bytes, size_t max_code_bytes,
			   struct profile *profile)
{
	struct profile_symbolizer s = { .cache = cache,
					.max_bytes = max_bytes,
					.profile = profile };
	int r;

	s.objects = calloc(profile->n_objects ?: 1, sizeof(*s.objects));
	if (!s.objects)
		return -ENOMEM;
	r = run_passes(&s);
	if (r >= 0 && max_code_bytes > 0)
		r = take_fingerprints(&s, max_code_bytes);
	for (uint32_t i = 0; i < profile->n_objects && r >= 0; i++)
		r = add_functions(&s, i);
	unmark_all(&s);
	free(s.objects);
	return r < 0 ? r : 0;
}
