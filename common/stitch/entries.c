/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

/* Jumps out are believed in of a pair of functions that made so many, or of a program that made these. */
#define PAIR_IS_KNOWN    2
#define PROGRAM_IS_KNOWN 3u
#define OUT_PER_TAIL     16u /* and that many more than tail calls taken for them */

#define N_PAIRS   64u /* see pair_slot() */
#define MAX_SCORE 16

struct pair {
	uint64_t from, landing;
	int score; /* above 0 it jumps out, below it calls */
};

#define CALLERS_SEVERAL UINT64_MAX

/* A function. */
struct entry {
	uint64_t start;
	uint64_t end;    /* the last address that was seen to be in it */
	uint64_t caller; /* the call that it was entered by, or CALLERS_SEVERAL */
};

struct entries {
	int32_t pid;
	unsigned int n_users;
	uint64_t identity;
	struct entry *entries; /* in order */
	size_t n_entries, cap_entries;
	struct entries_cache *cache;
	uint64_t version; /* another when an entry comes or goes */
	struct pair pairs[N_PAIRS];
	unsigned int n_out, n_tail;
	struct mapping {
		uint64_t start, end;
	} * mappings;
	size_t n_mappings, cap_mappings;
	bool knows_mappings; /* all of them */
};

int entries_new(struct entries **ret, int32_t pid, uint32_t serial, struct entries_cache *cache)
{
	struct entries *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->pid = pid;
	e->identity = serial;
	e->version = (uint64_t)serial * 0xd6e8feb86659fd93ull;
	e->cache = cache;
	*ret = e;
	return 0;
}

struct entries *entries_free(struct entries *e)
{
	if (!e)
		return NULL;
	free(e->entries);
	free(e->mappings);
	free(e);
	return NULL;
}

int32_t entries_pid(const struct entries *e)
{
	return e->pid;
}

unsigned int *entries_users(struct entries *e)
{
	return &e->n_users;
}

uint64_t entries_identity(const struct entries *e)
{
	return e->identity;
}

uint64_t entries_version(const struct entries *e)
{
	return e->version;
}

#define FORGOTTEN (1ull << 32)
#define CHANGED   0xbf58476d1ce4e5b9ull

/* How many entries begin at @address or before. */
static size_t count_until(const struct entries *e, uint64_t address)
{
	const struct entry *base = e->entries;
	size_t n = e->n_entries;

	while (n > 1) {
		size_t half = n / 2;

		base += base[half].start <= address ? half : 0;
		n -= half;
	}
	if (n == 0)
		return 0;
	return (size_t)(base - e->entries) + (base->start <= address);
}

static int insert(struct entries *e, size_t at, uint64_t from, uint64_t start)
{
	/* what is forgotten is learnt again: there are so many only where a program makes code */
	if (e->n_entries == ENTRIES_MAX_ENTRIES) {
		at = e->n_entries = 0;
		e->identity += FORGOTTEN;
	}
	if (ARRAY_RESERVE(&e->entries, &e->cap_entries, e->n_entries + 1) < 0)
		return -ENOMEM;
	memmove(e->entries + at + 1, e->entries + at, (e->n_entries - at) * sizeof(*e->entries));
	e->entries[at] = (struct entry){ .start = start, .end = start, .caller = from };
	e->n_entries++;
	e->version += CHANGED;
	return 0;
}

int entries_learn(struct entries *e, uint64_t from, uint64_t to)
{
	size_t n = count_until(e, to);

	if (n == 0 || e->entries[n - 1].start != to)
		return insert(e, n, from, to);
	if (e->entries[n - 1].caller != from)
		e->entries[n - 1].caller = CALLERS_SEVERAL;
	return 0;
}

bool entries_has_one_caller(const struct entries *e, uint64_t to)
{
	size_t n = count_until(e, to);

	return n > 0 && e->entries[n - 1].start == to &&
	       e->entries[n - 1].caller != CALLERS_SEVERAL;
}

void entries_forget(struct entries *e, uint64_t start, uint64_t end)
{
	size_t first = start > 0 ? count_until(e, start - 1) : 0;
	size_t last = end > 0 ? count_until(e, end - 1) : 0;

	if (last <= first)
		return;
	memmove(e->entries + first, e->entries + last, (e->n_entries - last) * sizeof(*e->entries));
	e->n_entries -= last - first;
	e->version += CHANGED;
	e->identity += FORGOTTEN;
}

void entries_begin_mappings(struct entries *e)
{
	e->n_mappings = 0;
	e->knows_mappings = true;
}

void entries_map(struct entries *e, uint64_t start, uint64_t end)
{
	if (!e->knows_mappings)
		return;
	if (e->n_mappings == ENTRIES_MAX_MAPPINGS ||
	    ARRAY_RESERVE(&e->mappings, &e->cap_mappings, e->n_mappings + 1) < 0) {
		e->knows_mappings = false;
		return;
	}
	e->mappings[e->n_mappings++] = (struct mapping){ start, end };
}

bool entries_has_code(const struct entries *e, uint64_t address)
{
	bool found = !e->knows_mappings || e->n_mappings == 0;

	for (size_t i = 0; i < e->n_mappings && !found; i++)
		found = address >= e->mappings[i].start && address < e->mappings[i].end;
	return found;
}

uint64_t entries_function(const struct entries *e, uint64_t address)
{
	size_t n = count_until(e, address);

	if (n == 0 || address - e->entries[n - 1].start >= ENTRIES_MAX_FUNCTION)
		return ENTRIES_NONE;
	return e->entries[n - 1].start;
}

static uint64_t measure_extent(const struct entries *e, uint64_t start)
{
	size_t n = count_until(e, start);
	uint64_t end = n < e->n_entries ? e->entries[n].start : UINT64_MAX;

	if (n == 0 || e->entries[n - 1].start != start)
		return 0;
	return MIN(end - start, ENTRIES_MAX_FUNCTION);
}

/* An answer kept lies below the part of the hash that does not say where: nothing else has the same hash. */
#define HASH_MASK (UINT64_MAX << ENTRIES_CACHE_BITS)

_Static_assert(ENTRIES_MAX_FUNCTION < 1u << ENTRIES_CACHE_BITS, "an extent fits below it");

uint32_t entries_extent(const struct entries *e, uint64_t start)
{
	uint64_t hash = (start ^ e->version) * 0x9e3779b97f4a7c15ull;
	uint64_t *kept = &e->cache->extents[hash >> (64 - ENTRIES_CACHE_BITS)];

	hash <<= ENTRIES_CACHE_BITS;
	if (_unlikely_((*kept & HASH_MASK) != hash))
		*kept = hash | measure_extent(e, start);
	return (uint32_t)(*kept & ~HASH_MASK);
}

void entries_reach(struct entries *e, uint64_t to, uint64_t address)
{
	size_t n = count_until(e, address);

	if (n > 0 && e->entries[n - 1].start == to && address - to < ENTRIES_MAX_FUNCTION)
		e->entries[n - 1].end = MAX(e->entries[n - 1].end, address);
}

uint64_t entries_surely(const struct entries *e, uint64_t address)
{
	size_t n = count_until(e, address);

	return n > 0 && address <= e->entries[n - 1].end ? e->entries[n - 1].start : ENTRIES_NONE;
}

static size_t pair_slot(uint64_t from, uint64_t landing)
{
	return (from * 0x9e3779b97f4a7c15ull + landing * 0xbf58476d1ce4e5b9ull) >> 58;
}

static int score_of(const struct entries *e, uint64_t from, uint64_t landing)
{
	const struct pair *pair = &e->pairs[pair_slot(from, landing)];

	return pair->from == from && pair->landing == landing ? pair->score : 0;
}

bool entries_jumps_out(const struct entries *e, uint64_t from, uint64_t landing)
{
	return score_of(e, from, landing) >= PAIR_IS_KNOWN;
}

enum entries_jump entries_jump_kind(const struct entries *e, uint64_t from, uint64_t landing)
{
	int score = score_of(e, from, landing);

	if (score >= PAIR_IS_KNOWN)
		return ENTRIES_JUMP_OUT;
	if (score <= -PAIR_IS_KNOWN)
		return ENTRIES_JUMP_TAIL;
	if (score == 0 && e->n_out >= PROGRAM_IS_KNOWN && e->n_out >= OUT_PER_TAIL * e->n_tail)
		return ENTRIES_JUMP_OUT;
	return ENTRIES_JUMP_UNKNOWN;
}

/* One that was no jump out weighs two that were. */
void entries_note_jump(struct entries *e, uint64_t from, uint64_t landing, enum entries_jump kind)
{
	struct pair *pair = &e->pairs[pair_slot(from, landing)];

	if (pair->from != from || pair->landing != landing)
		*pair = (struct pair){ from, landing, 0 };
	if (kind == ENTRIES_JUMP_OUT) {
		e->n_out++;
		pair->score = MIN(pair->score + 1, MAX_SCORE);
	} else {
		e->n_tail++;
		pair->score = MAX(pair->score - 2, -MAX_SCORE);
	}
}
