/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/profile-symbolizer.h"

#include <errno.h>
#include <stdlib.h>

#include "common/symbol/resolver.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/*
 * A file of 8 MiB may have a hundred thousand names of 4 KiB in one window. So all names new in a
 * profile together are limited, to a part of the memory that the cache may take, for untrusted
 * objects and for others; what comes after that is truncated.
 */
#define NAMES_PART  2
#define RECENT_BITS 15
#define N_RECENT    (1u << RECENT_BITS)
#define MAX_PASSES  4 /* a location, and the one after it; each may be unknown at first */

/* The state of one object of the profile. */
struct object_state {
	struct cached_object *cached; /* NULL until it is in the cache */
	uint64_t *unknown;            /* offsets that are not in its symbol cache */
	size_t n_unknown, cap_unknown;
	bool sought, has_none; /* none: no symbols */
};

/* An unknown offset: the place in the list of its object. */
struct unknown_place {
	uint32_t object, number;
};

struct profile_symbolizer {
	struct object_cache *cache;
	size_t max_bytes;
	struct profile *profile;
	struct object_state *objects;
	size_t names_left[2];         /* bytes of new names; [1] of untrusted objects */
	struct unknown_place *recent; /* N_RECENT: the last unknown offset with each hash */
	bool again;                   /* there are unknown offsets: another pass is needed */
};

/* Most locations come several times: an offset that is in the list already is not added again. */
static int add_unknown(struct profile_symbolizer *s, uint32_t object, uint64_t offset)
{
	struct object_state *state = &s->objects[object];
	struct unknown_place *place =
		&s->recent[(offset + object) * 0x9e3779b97f4a7c15 >> (64 - RECENT_BITS)];

	if (place->object == object && place->number < state->n_unknown &&
	    state->unknown[place->number] == offset)
		return 0;
	if (ARRAY_RESERVE(&state->unknown, &state->cap_unknown, state->n_unknown + 1) < 0)
		return -ENOMEM;
	*place = (struct unknown_place){ object, (uint32_t)state->n_unknown };
	state->unknown[state->n_unknown++] = offset;
	return 0;
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
	if (r != -ENOENT || state->has_none)
		return MAX(r, 0);
	s->again = true;
	r = add_unknown(s, object, offset);
	return r < 0 ? r : 1;
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

static int compare_offsets(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

static size_t sort_offsets(uint64_t *offsets, size_t n)
{
	size_t n_kept = 0;

	qsort(offsets, n, sizeof(*offsets), compare_offsets);
	for (size_t i = 0; i < n; i++)
		if (n_kept == 0 || offsets[n_kept - 1] != offsets[i])
			offsets[n_kept++] = offsets[i];
	return n_kept;
}

/* @names_left: how many bytes its names may add. 1, 0 or -ENOMEM, as resolver_add(). */
static int add_offsets(struct profile_symbolizer *s, struct object_state *state, size_t *names_left)
{
	struct symbol_cache *symbols = &state->cached->symbol_cache;
	size_t before = symbols->name_bytes, n;
	int r;

	symbols->name_limit = before + MAX(*names_left, (size_t)1);
	r = resolver_add(s->cache, state->cached, state->unknown,
			 sort_offsets(state->unknown, state->n_unknown));
	n = symbols->name_bytes - MIN(before, symbols->name_bytes);
	*names_left -= MIN(*names_left, n);
	symbols->name_limit = 0;
	return r;
}

/* Resolves the unknown offsets of an object. */
static int resolve(struct profile_symbolizer *s, size_t object)
{
	struct object_state *state = &s->objects[object];
	int r;

	if (state->n_unknown == 0)
		return 0;
	r = object_cache_get(s->cache, &s->profile->objects[object], &state->cached);
	if (r < 0)
		return r;
	r = add_offsets(s, state, &s->names_left[s->profile->objects[object].untrusted]);
	state->has_none = r == 0;
	state->n_unknown = 0;
	if (object_cache_bytes(s->cache) > s->max_bytes)
		object_cache_drop_symbols(s->cache, s->max_bytes);
	return MIN(r, 0);
}

static int run_passes(struct profile_symbolizer *s)
{
	int r = 0;

	s->again = true;
	for (int pass = 0; r >= 0 && s->again && pass < MAX_PASSES; pass++) {
		s->again = false;
		r = mark_all(s);
		for (size_t i = 0; r >= 0 && s->again && i < s->profile->n_objects; i++)
			r = resolve(s, i);
	}
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

static bool lacks_fingerprint(const struct symbol_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++)
		if (cache->ranges[i].marked && cache->ranges[i].name &&
		    !cache->ranges[i].fingerprinted)
			return true;
	return false;
}

static int take_fingerprints(struct profile_symbolizer *s, size_t n_left)
{
	int r = 0;

	for (size_t i = 0; i < s->profile->n_objects && r >= 0 && n_left > 0; i++) {
		struct cached_object *cached = s->objects[i].cached;

		if (!cached || !lacks_fingerprint(&cached->symbol_cache))
			continue;
		if (!cached->symbols)
			r = object_cache_get(s->cache, &s->profile->objects[i], &cached);
		if (r >= 0)
			r = resolver_take_fingerprints(s->cache, cached, &n_left);
		if (object_cache_bytes(s->cache) > s->max_bytes)
			object_cache_drop_symbols(s->cache, s->max_bytes);
	}
	return r;
}

/* Only after all were added: several objects of the profile may share one of the cache. */
static void unmark_all(struct profile_symbolizer *s)
{
	for (size_t i = 0; i < s->profile->n_objects; i++)
		if (s->objects[i].cached)
			symbol_cache_unmark(&s->objects[i].cached->symbol_cache);
}

static void done(struct profile_symbolizer *s)
{
	if (s->objects)
		unmark_all(s);
	for (size_t i = 0; s->objects && i < s->profile->n_objects; i++)
		free(s->objects[i].unknown);
	free(s->objects);
	free(s->recent);
}

int profile_symbolizer_run(struct object_cache *cache, size_t max_bytes, size_t max_code_bytes,
			   struct profile *profile)
{
	struct profile_symbolizer s = { .cache = cache,
					.max_bytes = max_bytes,
					.names_left = { max_bytes / NAMES_PART,
							max_bytes / NAMES_PART },
					.profile = profile };
	int r;

	s.objects = calloc(profile->n_objects ?: 1, sizeof(*s.objects));
	s.recent = calloc(N_RECENT, sizeof(*s.recent));
	r = s.objects && s.recent ? run_passes(&s) : -ENOMEM;
	if (r >= 0 && max_code_bytes > 0)
		r = take_fingerprints(&s, max_code_bytes);
	for (uint32_t i = 0; i < profile->n_objects && r >= 0; i++)
		r = add_functions(&s, i);
	done(&s);
	return r < 0 ? r : 0;
}
