/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/function-starts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

/* Jumps out are trusted after PAIR_IS_KNOWN of one pair of functions, or PROGRAM_IS_KNOWN of a
 * program. */
#define PAIR_IS_KNOWN    2
#define PROGRAM_IS_KNOWN 3u
#define OUT_PER_TAIL     16u /* and this many times as often as tail calls mistaken for them */

#define N_PAIRS   1024u /* see pair_slot() */
#define MAX_SCORE 16

struct pair {
	uint64_t from, jump_target;
	int score; /* above 0 the pair jumps out, below 0 it makes tail calls */
};

#define CALLERS_SEVERAL UINT64_MAX
#define CALLERS_NONE    0

/* A function, or a part of one that lies apart. */
struct function_start {
	uint64_t start;
	uint64_t limit; /* its exact end, exclusive; 0: unknown */
	uint64_t owner; /* with @limit: where the function starts that it is a part of */
	uint64_t name;  /* with @limit: see struct function_range */
	enum function_kind kind;
	bool calls;      /* a call from it was seen */
	uint8_t marks;   /* enum function_mark */
	uint64_t end;    /* the last address seen in it */
	uint64_t caller; /* the only call that entered it, or CALLERS_SEVERAL */
};

struct function_starts {
	int32_t pid;
	unsigned int n_users;
	uint64_t identity;
	struct function_start *starts; /* in order */
	size_t n_starts, cap_starts;
	struct function_starts_cache *cache;
	uint64_t version; /* changes when a function comes or goes */
	struct pair pairs[N_PAIRS];
	unsigned int n_out, n_tail;
	struct mapping {
		uint64_t start, end;
	} * mappings;
	size_t n_mappings, cap_mappings;
	bool knows_mappings; /* @mappings is complete */
	bool jumps_out;      /* a function that leaves others was called, or calls were left */
};

int function_starts_new(struct function_starts **ret, int32_t pid, uint32_t serial,
			struct function_starts_cache *cache)
{
	struct function_starts *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->pid = pid;
	e->identity = serial;
	e->version = (uint64_t)serial * 0xd6e8feb86659fd93ull;
	e->cache = cache;
	*ret = e;
	return 0;
}

struct function_starts *function_starts_free(struct function_starts *e)
{
	if (!e)
		return NULL;
	free(e->starts);
	free(e->mappings);
	free(e);
	return NULL;
}

int32_t function_starts_pid(const struct function_starts *e)
{
	return e->pid;
}

unsigned int *function_starts_users(struct function_starts *e)
{
	return &e->n_users;
}

uint64_t function_starts_identity(const struct function_starts *e)
{
	return e->identity;
}

uint64_t function_starts_version(const struct function_starts *e)
{
	return e->version;
}

#define FORGOTTEN (1ull << 32)
#define CHANGED   0xbf58476d1ce4e5b9ull

/* The number of functions that begin at @address or before. */
static size_t count_until(const struct function_starts *e, uint64_t address)
{
	const struct function_start *base = e->starts;
	size_t n = e->n_starts;

	while (n > 1) {
		size_t half = n / 2;

		base += base[half].start <= address ? half : 0;
		n -= half;
	}
	if (n == 0)
		return 0;
	return (size_t)(base - e->starts) + (base->start <= address);
}

static int insert(struct function_starts *e, size_t at, uint64_t from, uint64_t start)
{
	/* What is forgotten is learnt again. Only a program that generates code has that many
	 * functions. */
	if (e->n_starts == FUNCTION_STARTS_MAX) {
		at = e->n_starts = 0;
		e->identity += FORGOTTEN;
	}
	if (ARRAY_RESERVE(&e->starts, &e->cap_starts, e->n_starts + 1) < 0)
		return -ENOMEM;
	memmove(e->starts + at + 1, e->starts + at, (e->n_starts - at) * sizeof(*e->starts));
	e->starts[at] = (struct function_start){ .start = start, .end = start, .caller = from };
	e->n_starts++;
	e->version += CHANGED;
	return 0;
}

/* Joins parts of a function, whichever is known first. */
static void join_parts(struct function_starts *e, struct function_start *new)
{
	bool is_apart = new->kind == FUNCTION_APART;

	if (new->name == 0)
		return;
	for (size_t i = 0; i < e->n_starts; i++) {
		struct function_start *other = &e->starts[i];

		if (other->name != new->name || (other->kind == FUNCTION_APART) == is_apart)
			continue;
		if (is_apart)
			new->owner = other->start;
		else
			other->owner = new->start;
	}
}

/* The function with an exact range around @address, or NULL. */
static struct function_start *find_exact(const struct function_starts *e, uint64_t address)
{
	size_t n = count_until(e, address);

	return n > 0 && address < e->starts[n - 1].limit ? &e->starts[n - 1] : NULL;
}

/* Adds the exact range; what was seen called within it were parts of it. */
static int add_range(struct function_starts *e, const struct function_range *range)
{
	size_t n = count_until(e, range->start), end;
	int r = 0;

	if (n == 0 || e->starts[n - 1].start != range->start) {
		r = insert(e, n, CALLERS_NONE, range->start);
		n = count_until(e, range->start);
	}
	if (r < 0)
		return r;
	end = count_until(e, range->end - 1);
	memmove(e->starts + n, e->starts + end, (e->n_starts - end) * sizeof(*e->starts));
	e->n_starts -= end - n;
	e->version += CHANGED;
	e->starts[n - 1].limit = range->end;
	e->starts[n - 1].owner = range->start;
	e->starts[n - 1].name = range->name;
	e->starts[n - 1].kind = range->kind;
	e->jumps_out |= range->kind >= FUNCTION_LEAVES;
	join_parts(e, &e->starts[n - 1]);
	return 0;
}

int function_starts_ask(struct function_starts *e, uint64_t address)
{
	struct function_range range;

	if (!e->cache->find || find_exact(e, address) ||
	    !e->cache->find(e->cache->userdata, e->pid, address, &range))
		return 0;
	return add_range(e, &range);
}

bool function_starts_contains(const struct function_starts *e, uint64_t start, uint64_t address)
{
	const struct function_start *exact, *entered;

	if (address - start < function_starts_extent(e, start))
		return true;
	exact = find_exact(e, address);
	entered = find_exact(e, start);
	return exact && entered && exact->owner == entered->owner;
}

static void note_caller(struct function_starts *e, uint64_t from)
{
	struct function_start *exact = find_exact(e, from);
	struct function_start *owner = exact ? find_exact(e, exact->owner) : NULL;

	if (exact)
		exact->calls = true;
	if (owner)
		owner->calls = true;
}

int function_starts_learn(struct function_starts *e, uint64_t from, uint64_t to)
{
	size_t n;

	if (function_starts_ask(e, to) < 0 || function_starts_ask(e, from) < 0)
		return -ENOMEM;
	note_caller(e, from);
	n = count_until(e, to);
	if (n > 0 && e->starts[n - 1].caller == CALLERS_NONE && e->starts[n - 1].start == to)
		e->starts[n - 1].caller = from;
	if (n > 0 && to < e->starts[n - 1].limit && e->starts[n - 1].start != to)
		return 0;
	if (n == 0 || e->starts[n - 1].start != to)
		return insert(e, n, from, to);
	if (e->starts[n - 1].caller != from)
		e->starts[n - 1].caller = CALLERS_SEVERAL;
	return 0;
}

bool function_starts_has_one_caller(const struct function_starts *e, uint64_t to)
{
	size_t n = count_until(e, to);

	return n > 0 && e->starts[n - 1].start == to && e->starts[n - 1].caller != CALLERS_SEVERAL;
}

void function_starts_forget(struct function_starts *e, uint64_t start, uint64_t end)
{
	size_t first = start > 0 ? count_until(e, start - 1) : 0;
	size_t last = end > 0 ? count_until(e, end - 1) : 0;

	if (last <= first)
		return;
	memmove(e->starts + first, e->starts + last, (e->n_starts - last) * sizeof(*e->starts));
	e->n_starts -= last - first;
	e->version += CHANGED;
	e->identity += FORGOTTEN;
}

void function_starts_begin_mappings(struct function_starts *e)
{
	e->n_mappings = 0;
	e->knows_mappings = true;
}

void function_starts_map(struct function_starts *e, uint64_t start, uint64_t end)
{
	if (!e->knows_mappings)
		return;
	if (e->n_mappings == FUNCTION_STARTS_MAX_MAPPINGS ||
	    ARRAY_RESERVE(&e->mappings, &e->cap_mappings, e->n_mappings + 1) < 0) {
		e->knows_mappings = false;
		return;
	}
	e->mappings[e->n_mappings++] = (struct mapping){ start, end };
}

bool function_starts_has_code(const struct function_starts *e, uint64_t address)
{
	bool found = !e->knows_mappings || e->n_mappings == 0;

	for (size_t i = 0; i < e->n_mappings && !found; i++)
		found = address >= e->mappings[i].start && address < e->mappings[i].end;
	return found;
}

uint64_t function_starts_find(const struct function_starts *e, uint64_t address)
{
	size_t n = count_until(e, address);
	const struct function_start *last = n > 0 ? &e->starts[n - 1] : NULL;

	if (last && last->limit)
		return address < last->limit ? last->owner : FUNCTION_STARTS_NONE;
	if (!last || address - last->start >= FUNCTION_STARTS_MAX_BYTES)
		return FUNCTION_STARTS_NONE;
	return last->start;
}

static uint64_t measure_extent(const struct function_starts *e, uint64_t start)
{
	size_t n = count_until(e, start);
	uint64_t end = n < e->n_starts ? e->starts[n].start : UINT64_MAX;

	if (n > 0 && e->starts[n - 1].limit)
		return start < e->starts[n - 1].limit ?
			       MIN(e->starts[n - 1].limit - start, FUNCTION_STARTS_MAX_BYTES) :
			       0;
	if (n == 0 || e->starts[n - 1].start != start)
		return 0;
	return MIN(end - start, FUNCTION_STARTS_MAX_BYTES);
}

/* An extent is stored in the low bits, in place of that part of the hash which is the index of the
 * slot. */
#define HASH_MASK (UINT64_MAX << FUNCTION_STARTS_CACHE_BITS)

_Static_assert(FUNCTION_STARTS_MAX_BYTES < 1u << FUNCTION_STARTS_CACHE_BITS,
	       "an extent fits below it");

uint32_t function_starts_extent(const struct function_starts *e, uint64_t start)
{
	uint64_t hash = (start ^ e->version) * 0x9e3779b97f4a7c15ull;
	uint64_t *kept = &e->cache->extents[hash >> (64 - FUNCTION_STARTS_CACHE_BITS)];

	hash <<= FUNCTION_STARTS_CACHE_BITS;
	if (_unlikely_((*kept & HASH_MASK) != hash))
		*kept = hash | measure_extent(e, start);
	return (uint32_t)(*kept & ~HASH_MASK);
}

void function_starts_reach(struct function_starts *e, uint64_t to, uint64_t address)
{
	size_t n = count_until(e, address);

	if (n > 0 && e->starts[n - 1].start == to && address - to < FUNCTION_STARTS_MAX_BYTES)
		e->starts[n - 1].end = MAX(e->starts[n - 1].end, address);
}

uint64_t function_starts_find_certain(const struct function_starts *e, uint64_t address)
{
	const struct function_start *exact = find_exact(e, address);
	size_t n = count_until(e, address);

	if (exact)
		return exact->owner;
	return n > 0 && address <= e->starts[n - 1].end ? e->starts[n - 1].start :
							  FUNCTION_STARTS_NONE;
}

enum function_kind function_starts_kind(const struct function_starts *e, uint64_t address)
{
	const struct function_start *exact = find_exact(e, address);

	return exact ? exact->kind : FUNCTION_PLAIN;
}

bool function_starts_is_exact(const struct function_starts *e, uint64_t address)
{
	return find_exact(e, address) != NULL;
}

bool function_starts_never_calls(const struct function_starts *e, uint64_t address)
{
	const struct function_start *exact = find_exact(e, address);

	return exact && !exact->calls;
}

static struct function_start *find_owner(const struct function_starts *e, uint64_t address)
{
	struct function_start *exact = find_exact(e, address);

	return exact ? find_exact(e, exact->owner) : NULL;
}

void function_starts_mark(struct function_starts *e, uint64_t address, enum function_mark mark)
{
	struct function_start *owner = find_owner(e, address);

	if (owner)
		owner->marks |= mark;
}

bool function_starts_has_mark(const struct function_starts *e, uint64_t address,
			      enum function_mark mark)
{
	const struct function_start *owner = find_owner(e, address);

	return owner && owner->marks & mark;
}

bool function_starts_jump_out(const struct function_starts *e)
{
	return e->jumps_out || e->n_out >= PROGRAM_IS_KNOWN;
}

void function_starts_note_left(struct function_starts *e)
{
	e->jumps_out = true;
}

static size_t pair_slot(uint64_t from, uint64_t jump_target)
{
	return (from * 0x9e3779b97f4a7c15ull + jump_target * 0xbf58476d1ce4e5b9ull) >> 54;
}

static int score_of(const struct function_starts *e, uint64_t from, uint64_t jump_target)
{
	const struct pair *pair = &e->pairs[pair_slot(from, jump_target)];

	return pair->from == from && pair->jump_target == jump_target ? pair->score : 0;
}

bool function_starts_jumps_out(const struct function_starts *e, uint64_t from, uint64_t jump_target)
{
	return score_of(e, from, jump_target) >= PAIR_IS_KNOWN;
}

enum jump_kind function_starts_jump_kind(const struct function_starts *e, uint64_t from,
					 uint64_t jump_target)
{
	int score = score_of(e, from, jump_target);

	if (score >= PAIR_IS_KNOWN)
		return JUMP_OUT;
	if (score <= -PAIR_IS_KNOWN)
		return JUMP_TAIL;
	if (score == 0 && e->n_out >= PROGRAM_IS_KNOWN && e->n_out >= OUT_PER_TAIL * e->n_tail)
		return JUMP_OUT;
	return JUMP_UNKNOWN;
}

void function_starts_note_tail(struct function_starts *e, uint64_t from, uint64_t jump_target)
{
	struct pair *pair = &e->pairs[pair_slot(from, jump_target)];

	if (pair->from != from || pair->jump_target != jump_target)
		*pair = (struct pair){ from, jump_target, -PAIR_IS_KNOWN };
}

/* A tail call weighs twice as much as a jump out. */
void function_starts_note_jump(struct function_starts *e, uint64_t from, uint64_t jump_target,
			       enum jump_kind kind)
{
	struct pair *pair = &e->pairs[pair_slot(from, jump_target)];

	if (pair->from != from || pair->jump_target != jump_target)
		*pair = (struct pair){ from, jump_target, 0 };
	if (kind == JUMP_OUT) {
		e->n_out++;
		pair->score = MIN(pair->score + 1, MAX_SCORE);
	} else {
		e->n_tail++;
		pair->score = MAX(pair->score - 2, -MAX_SCORE);
	}
}
