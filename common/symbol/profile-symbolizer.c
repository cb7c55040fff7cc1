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
/* In the first pass, the first offset of each piece of this many bytes is asked for; its function
 * mostly has the others, too. What is still unknown then is asked for by each offset. */
#define PIECE_BITS  8
#define MAX_PASSES  5 /* a location, and the one after it; each may be unknown at first */

/* The state of one object of the profile. */
struct object_state {
	struct cached_object *cached; /* NULL until it is in the cache */
	uint64_t *unknown;            /* offsets that are not in its symbol cache */
	size_t n_unknown, cap_unknown;
	bool sought, has_none; /* none: no symbols */
};

/* Where an offset of the object was found last: the number of a range of its symbol cache, or of
 * an unknown offset. It is a hint, which may be out of date. */
struct recent_place {
	uint32_t object, number;
};

struct profile_symbolizer {
	struct object_cache *cache;
	size_t max_bytes;
	struct profile *profile;
	struct object_state *objects;
	size_t names_left[2];        /* bytes of new names; [1] of untrusted objects */
	struct recent_place *recent; /* N_RECENT, by a hash of object and piece */
	bool is_first;               /* pass */
	bool again;                  /* there are unknown offsets: another pass is needed */
};

/* Most locations come several times: what is in the list already is not added again. */
static int add_unknown(struct profile_symbolizer *s, struct recent_place *place, uint32_t object,
		       uint64_t offset)
{
	struct object_state *state = &s->objects[object];
	const unsigned int bits = s->is_first ? PIECE_BITS : 0;

	if (place->object == object && place->number < state->n_unknown &&
	    (state->unknown[place->number] ^ offset) >> bits == 0)
		return 0;
	if (ARRAY_RESERVE(&state->unknown, &state->cap_unknown, state->n_unknown + 1) < 0)
		return -ENOMEM;
	*place = (struct recent_place){ object, (uint32_t)state->n_unknown };
	state->unknown[state->n_unknown++] = offset;
	return 0;
}

/* A location of the profile. Its weight is its samples, and 1 so that a caller is used, too. */
struct use {
	uint32_t object;
	uint64_t offset, weight;
};

/* Marks the range with the offset: 1 if it is in a function, 0 if in none, -ENOENT without one. */
static int mark_known(struct cached_object *cached, struct recent_place *place,
		      const struct use *use)
{
	struct symbol_cache *symbols = &cached->symbol_cache;
	int64_t number = place->number;

	if (_unlikely_(place->object != use->object ||
		       !symbol_cache_has(symbols, number, use->offset))) {
		number = symbol_cache_find_number(symbols, use->offset);
		if (number < 0)
			return -ENOENT;
		*place = (struct recent_place){ use->object, (uint32_t)number };
	}
	symbols->ranges[number].weight += use->weight;
	return symbols->ranges[number].name ? 1 : 0;
}

/* 1 if the location is in a function or waits for the next pass, else 0. */
static int mark(struct profile_symbolizer *s, uint32_t object, uint64_t offset, uint64_t weight)
{
	const struct use use = { object, offset, weight };
	struct recent_place *place;
	struct object_state *state;
	int r = -ENOENT;

	if (object >= s->profile->n_objects)
		return 0;
	state = &s->objects[object];
	if (_unlikely_(!state->sought)) {
		state->cached = object_cache_find(s->cache, &s->profile->objects[object]);
		state->sought = true;
	}
	place = &s->recent[((offset >> PIECE_BITS) + ((uint64_t)object << 32)) *
				   0x9e3779b97f4a7c15 >>
			   (64 - RECENT_BITS)];
	if (state->cached)
		r = mark_known(state->cached, place, &use);
	if (r != -ENOENT || state->has_none)
		return MAX(r, 0);
	s->again = true;
	r = add_unknown(s, place, object, offset);
	return r < 0 ? r : 1;
}

static uint64_t weight_of(const struct profile_stack *stack)
{
	return stack->samples + stack->ticks + 1;
}

/* See profile_place_frame(). Finalizing drops a function that is not used in the end. */
static int mark_frame(struct profile_symbolizer *s, const struct profile_stack *stack)
{
	struct location frame = stack->frame;
	uint64_t weight = weight_of(stack);
	int r = mark(s, frame.object, frame.offset, weight);

	return r == 0 ? mark(s, frame.object, frame.offset + 1, weight) : r;
}

static int mark_streams_and_blocks(struct profile_symbolizer *s)
{
	const struct profile *p = s->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_streams && r >= 0; i++)
		r = mark(s, p->streams[i].from.object, p->streams[i].from.offset, 1);
	for (size_t i = 0; i < p->n_streams && r >= 0; i++)
		r = mark(s, p->streams[i].to.object, p->streams[i].to.offset, 1);
	for (size_t i = 0; i < p->n_blocks && r >= 0; i++)
		r = mark(s, p->blocks[i].object, p->blocks[i].start, 1);
	for (size_t i = 0; i < p->n_blocks && r >= 0; i++)
		r = mark(s, p->blocks[i].object, p->blocks[i].end, 1);
	return r < 0 ? r : 0;
}

static int mark_all(struct profile_symbolizer *s)
{
	const struct profile *p = s->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_stacks && r >= 0; i++)
		r = mark_frame(s, &p->stacks[i]);
	for (size_t i = 0; i < p->n_branches && r >= 0; i++)
		r = mark(s, p->branches[i].from.object, p->branches[i].from.offset, 1);
	for (size_t i = 0; i < p->n_branches && r >= 0; i++)
		r = mark(s, p->branches[i].to.object, p->branches[i].to.offset, 1);
	/* Streams and blocks have the locations of branches, mostly: those wait for the next pass.
	 */
	if (r < 0 || (s->is_first && s->again))
		return MIN(r, 0);
	return mark_streams_and_blocks(s);
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

/* Several objects of the profile may share one of the cache. */
static void unmark_all(struct profile_symbolizer *s)
{
	for (size_t i = 0; i < s->profile->n_objects; i++)
		if (s->objects[i].cached)
			symbol_cache_unmark(&s->objects[i].cached->symbol_cache);
}

static int run_passes(struct profile_symbolizer *s)
{
	int r = 0;

	s->again = true;
	for (int pass = 0; r >= 0 && s->again && pass < MAX_PASSES; pass++) {
		s->again = false;
		s->is_first = pass == 0;
		unmark_all(s);
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

		if (range->weight > 0 && range->name &&
		    profile_add_function(s->profile, &function) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Most code belongs to the many functions with a sample or two, and what they are is asked for
 * least. Functions that have less than one in @SELDOM of the profile's weight have to share what
 * one in @SELDOM_PART of the bytes takes; they wait for another profile.
 */
#define SELDOM      2000
#define SELDOM_PART 4

/* A function that lacks its fingerprint. */
struct missing {
	uint64_t weight, size;
};

static int compare_missing(const void *p, const void *q)
{
	const struct missing *a = p, *b = q;

	return COMPARE(b->weight, a->weight);
}

static int list_missing(const struct symbol_cache *cache, uint64_t least, struct missing **rows,
			size_t *n, size_t *cap)
{
	for (size_t i = 0; i < cache->n; i++) {
		const struct symbol_cache_range *range = &cache->ranges[i];

		if (!symbol_cache_lacks_fingerprint(range, least))
			continue;
		if (ARRAY_RESERVE(rows, cap, *n + 1) < 0)
			return -ENOMEM;
		(*rows)[(*n)++] = (struct missing){ range->weight, range->size };
	}
	return 0;
}

/* The least weight of the functions, from the heaviest on, that @n_bytes of code have. */
static uint64_t find_least(struct missing *rows, size_t n, size_t n_bytes)
{
	uint64_t n_done = 0;
	size_t i = 0;

	qsort(rows, n, sizeof(*rows), compare_missing);
	while (i + 1 < n && (n_done += MIN(rows[i].size, UINT64_MAX - n_done)) < n_bytes)
		i++;
	return rows[i].weight;
}

/* There is no code of the kernel in a file that is known. */
static struct cached_object *find_with_code(const struct profile_symbolizer *s, size_t object)
{
	enum object_kind kind = s->profile->objects[object].kind;

	return kind == OBJECT_KERNEL || kind == OBJECT_MODULE ? NULL : s->objects[object].cached;
}

/* Of functions with at least the weight, until *@n_left bytes of code were read. */
static int take_heavy(struct profile_symbolizer *s, uint64_t least, size_t *n_left)
{
	int r = 0;

	for (size_t i = 0; i < s->profile->n_objects && r >= 0 && *n_left > 0; i++) {
		struct cached_object *cached = find_with_code(s, i);

		if (!cached || !symbol_cache_lacks_fingerprints(&cached->symbol_cache, least))
			continue;
		r = object_cache_get(s->cache, &s->profile->objects[i], &cached);
		if (r >= 0)
			r = resolver_take_fingerprints(s->cache, cached, least, n_left);
		if (object_cache_bytes(s->cache) > s->max_bytes)
			object_cache_drop_symbols(s->cache, s->max_bytes);
	}
	return r;
}

/* Of functions with at least the weight: those that are used most come first, of any object. */
static int take_from(struct profile_symbolizer *s, uint64_t weight, size_t *n_left)
{
	_cleanup_free_ struct missing *rows = NULL;
	size_t n = 0, cap = 0;
	uint64_t least;
	int r = 0;

	for (size_t i = 0; i < s->profile->n_objects && r >= 0; i++)
		if (find_with_code(s, i))
			r = list_missing(&s->objects[i].cached->symbol_cache, weight, &rows, &n,
					 &cap);
	if (r < 0 || n == 0)
		return r;
	least = find_least(rows, n, *n_left);
	r = take_heavy(s, least + 1, n_left);
	return r < 0 ? r : take_heavy(s, least, n_left);
}

/* Of all functions of the profile. */
static uint64_t sum_weights(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		sum += weight_of(&p->stacks[i]);
	return sum + 2 * (p->n_branches + p->n_streams + p->n_blocks);
}

static int take_fingerprints(struct profile_symbolizer *s, size_t max_code_bytes)
{
	uint64_t seldom = max_code_bytes < SIZE_MAX ? sum_weights(s->profile) / SELDOM : 0;
	size_t n_left = max_code_bytes;
	int r = take_from(s, seldom + 1, &n_left);

	n_left = MIN(n_left, max_code_bytes / SELDOM_PART);
	return r < 0 || n_left == 0 ? r : take_from(s, 1, &n_left);
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
