/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sealing the long tables: functions, stacks, branches and blocks.
 *
 * The idea: all places (an object and an offset) that they mention are sorted once, and a row then
 * needs only the ranks of its places. That makes the key of every table three 32-bit words, which
 * one radix sort puts in order; and the functions that are used come from one sweep along the
 * sorted places. Stacks are sorted level by level, since the key of a node holds the new index of
 * its parent.
 *
 * The limit: 2^32 mentions of places, each of which takes 36 bytes while the profile is sealed.
 */
#include "common/profile/seal.h"

#include <string.h>

#include "common/util/cleanup.h"

/* A place as a key; @index is which mention of it this is. */
static inline struct radix_key place_key(const struct seal *s, uint32_t object, uint64_t offset,
					 size_t index)
{
	return (struct radix_key){
		.word = { map_object(s, object), (uint32_t)(offset >> 32), (uint32_t)offset },
		.index = (uint32_t)index,
	};
}

/*
 * Where the mentions of the tables begin: of each stack its frame, of all branches first the from
 * and then the to, of all blocks first the start and then the end.
 */
static inline size_t mention_from(const struct profile *p)
{
	return p->n_stacks;
}

static inline size_t mention_to(const struct profile *p)
{
	return mention_from(p) + p->n_branches;
}

static inline size_t mention_start(const struct profile *p)
{
	return mention_to(p) + p->n_branches;
}

static inline size_t mention_end(const struct profile *p)
{
	return mention_start(p) + p->n_blocks;
}

static inline size_t n_mentions(const struct profile *p)
{
	return mention_end(p) + p->n_blocks;
}

static void collect_places(struct seal *s)
{
	const struct profile *p = s->p;
	size_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++, n++)
		s->keys[n] = place_key(s, p->stacks[i].frame.object, p->stacks[i].frame.offset, n);
	for (size_t i = 0; i < p->n_branches; i++, n++)
		s->keys[n] =
			place_key(s, p->branches[i].from.object, p->branches[i].from.offset, n);
	for (size_t i = 0; i < p->n_branches; i++, n++)
		s->keys[n] = place_key(s, p->branches[i].to.object, p->branches[i].to.offset, n);
	for (size_t i = 0; i < p->n_blocks; i++, n++)
		s->keys[n] = place_key(s, p->blocks[i].object, p->blocks[i].start, n);
	for (size_t i = 0; i < p->n_blocks; i++, n++)
		s->keys[n] = place_key(s, p->blocks[i].object, p->blocks[i].end, n);
}

int seal_places(struct seal *s)
{
	size_t n = n_mentions(s->p);

	if (n > UINT32_MAX)
		return -ENOMEM;
	if (ALLOCATE(&s->keys, n) < 0 || ALLOCATE(&s->spare, n) < 0 || ALLOCATE(&s->rank, n) < 0)
		return -ENOMEM;
	collect_places(s);
	radix_sort(s->keys, s->spare, n);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || radix_compare(&s->keys[s->n_places - 1], &s->keys[i]) != 0)
			s->keys[s->n_places++] = s->keys[i];
		s->rank[s->keys[i].index] = (uint32_t)(s->n_places - 1);
	}
	return 0;
}

/* The keys of those functions whose object is used. */
static size_t collect_functions(const struct seal *s, struct radix_key *keys)
{
	size_t n = 0;

	for (size_t i = 0; i < s->p->n_functions; i++) {
		const struct profile_function *f = &s->p->functions[i];

		if (f->object != PROFILE_NONE && map_object(s, f->object) == PROFILE_NONE)
			continue;
		keys[n++] = place_key(s, f->object, f->start, i);
	}
	return n;
}

/* @place is not before the function's start. */
static bool place_is_inside(const struct radix_key *place, const struct radix_key *start,
			    uint64_t size)
{
	uint64_t at = (uint64_t)place->word[1] << 32 | place->word[2];
	uint64_t from = (uint64_t)start->word[1] << 32 | start->word[2];

	return place->word[0] == start->word[0] && at - from < size;
}

/* Which of two functions with one start stays: what is unknown comes last. */
static int compare_equal_functions(const struct profile_function *a,
				   const struct profile_function *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(!*a->name, !*b->name));
	RETURN_UNLESS_EQUAL(compare_strings(a->name, b->name));
	RETURN_UNLESS_EQUAL(COMPARE(a->size, b->size));
	return COMPARE(a->fingerprint - 1, b->fingerprint - 1);
}

static void append_function(struct profile *d, struct profile_function f)
{
	struct profile_function *last = d->n_functions ? &d->functions[d->n_functions - 1] : NULL;

	if (!last || last->object != f.object || last->start != f.start)
		d->functions[d->n_functions++] = f;
	else if (compare_equal_functions(&f, last) < 0)
		*last = f;
}

static inline uint64_t last_offset(const struct profile_function *f)
{
	uint64_t last = f->start + f->size - 1;

	return last < f->start ? UINT64_MAX : last;
}

/* Links each function to the last before it that reaches further, for profile_find_function(). */
static void link_outer(struct profile *d)
{
	for (size_t i = 0; i < d->n_functions; i++) {
		const struct profile_function *f = &d->functions[i], *before;
		uint32_t outer = i == 0 ? PROFILE_NONE : (uint32_t)(i - 1);

		for (; outer != PROFILE_NONE; outer = d->outer[outer]) {
			before = &d->functions[outer];
			if (before->object == f->object && last_offset(before) > last_offset(f))
				break;
			if (before->object != f->object) {
				outer = PROFILE_NONE;
				break;
			}
		}
		d->outer[i] = outer;
	}
}

int seal_functions(struct seal *s)
{
	_cleanup_free_ struct radix_key *keys = NULL, *spare = NULL;
	const struct profile *p = s->p;
	struct profile *d = &s->draft;
	size_t n, place = 0;

	if (ALLOCATE(&keys, p->n_functions) < 0 || ALLOCATE(&spare, p->n_functions) < 0 ||
	    ALLOCATE(&d->functions, p->n_functions) < 0)
		return -ENOMEM;
	n = collect_functions(s, keys);
	radix_sort(keys, spare, n);
	for (size_t i = 0; i < n; i++) {
		struct profile_function f = p->functions[keys[i].index];

		while (place < s->n_places && radix_compare(&s->keys[place], &keys[i]) < 0)
			place++;
		if (place == s->n_places)
			break;
		if (!place_is_inside(&s->keys[place], &keys[i], f.size))
			continue;
		f.object = keys[i].word[0];
		append_function(d, f);
	}
	if (ALLOCATE(&d->outer, d->n_functions) < 0)
		return -ENOMEM;
	link_outer(d);
	return 0;
}

/*
 * *@ret_order is the nodes level by level, the roots first; *@ret_levels where each level begins
 * and, after the last one, the number of nodes.
 */
static int order_by_level(const struct profile *p, uint32_t **ret_order, size_t **ret_levels,
			  size_t *ret_n_levels)
{
	_cleanup_free_ uint32_t *order = NULL, *level = NULL;
	_cleanup_free_ size_t *levels = NULL;
	size_t n_levels = 0;

	if (ALLOCATE(&order, p->n_stacks) < 0 || ALLOCATE(&level, p->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++) {
		uint32_t parent = p->stacks[i].parent;

		level[i] = parent == PROFILE_NONE ? 0 : level[parent] + 1;
		n_levels = MAX(n_levels, (size_t)level[i] + 1);
	}

	/* a counting sort: levels[l + 1] is first the size, then the running end of level l */
	levels = calloc(n_levels + 2, sizeof(*levels));
	if (!levels)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		levels[level[i] + 2]++;
	for (size_t l = 2; l <= n_levels; l++)
		levels[l] += levels[l - 1];
	for (size_t i = 0; i < p->n_stacks; i++)
		order[levels[level[i] + 1]++] = (uint32_t)i;

	*ret_order = TAKE_PTR(order);
	*ret_levels = TAKE_PTR(levels);
	*ret_n_levels = n_levels;
	return 0;
}

/* The node's key; its parent has its new index already. */
static struct radix_key stack_key(const struct seal *s, uint32_t i)
{
	const struct profile_stack *stack = &s->p->stacks[i];
	uint32_t parent = stack->parent;

	return (struct radix_key){
		.word = { parent == PROFILE_NONE ? 0 : s->stack_map[parent],
			  map_process(s, stack->process), s->rank[i] },
		.index = i,
	};
}

static void append_stack(struct seal *s, const struct radix_key *key)
{
	const struct profile_stack *from = &s->p->stacks[key->index];

	s->draft.stacks[s->draft.n_stacks++] = (struct profile_stack){
		.parent = from->parent == PROFILE_NONE ? PROFILE_NONE : key->word[0],
		.process = key->word[1],
		.frame = { map_object(s, from->frame.object), from->frame.offset },
	};
}

static void seal_level(struct seal *s, const uint32_t *order, size_t n)
{
	struct profile *d = &s->draft;

	for (size_t i = 0; i < n; i++)
		s->keys[i] = stack_key(s, order[i]);
	radix_sort(s->keys, s->spare, n);
	for (size_t i = 0; i < n; i++) {
		const struct profile_stack *from = &s->p->stacks[s->keys[i].index];
		struct profile_stack *into;

		if (i == 0 || radix_compare(&s->keys[i - 1], &s->keys[i]) != 0)
			append_stack(s, &s->keys[i]);
		into = &d->stacks[d->n_stacks - 1];
		into->samples += from->samples;
		into->stitched += from->stitched;
		into->weight += from->weight;
		s->stack_map[s->keys[i].index] = (uint32_t)(d->n_stacks - 1);
	}
}

int seal_stacks(struct seal *s)
{
	_cleanup_free_ uint32_t *order = NULL;
	_cleanup_free_ size_t *levels = NULL;
	size_t n_levels;

	if (ALLOCATE(&s->stack_map, s->p->n_stacks) < 0 ||
	    ALLOCATE(&s->draft.stacks, s->p->n_stacks) < 0 ||
	    order_by_level(s->p, &order, &levels, &n_levels) < 0)
		return -ENOMEM;
	for (size_t l = 0; l < n_levels; l++)
		seal_level(s, order + levels[l], levels[l + 1] - levels[l]);
	return 0;
}

/* Sorts the first @n keys; the number of distinct ones. */
static size_t sort_keys(struct seal *s, size_t n)
{
	size_t n_distinct = 0;

	radix_sort(s->keys, s->spare, n);
	for (size_t i = 0; i < n; i++)
		n_distinct += i == 0 || radix_compare(&s->keys[i - 1], &s->keys[i]) != 0;
	return n_distinct;
}

int seal_branches(struct seal *s)
{
	const uint32_t *from = s->rank + mention_from(s->p), *to = s->rank + mention_to(s->p);
	const struct profile *p = s->p;
	struct profile *d = &s->draft;

	for (size_t i = 0; i < p->n_branches; i++)
		s->keys[i] = (struct radix_key){
			.word = { map_process(s, p->branches[i].process), from[i], to[i] },
			.index = (uint32_t)i,
		};
	if (ALLOCATE(&d->branches, sort_keys(s, p->n_branches)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch b = p->branches[s->keys[i].index], *into;

		if (i == 0 || radix_compare(&s->keys[i - 1], &s->keys[i]) != 0) {
			b.process = map_process(s, b.process);
			b.from.object = map_object(s, b.from.object);
			b.to.object = map_object(s, b.to.object);
			d->branches[d->n_branches++] = b;
			continue;
		}
		into = &d->branches[d->n_branches - 1];
		into->taken += b.taken;
		into->mispredicted += b.mispredicted;
		into->aborted += b.aborted;
		into->cycles += b.cycles;
		into->cycles_rows += b.cycles_rows;
	}
	return 0;
}

int seal_blocks(struct seal *s)
{
	const uint32_t *start = s->rank + mention_start(s->p), *end = s->rank + mention_end(s->p);
	const struct profile *p = s->p;
	struct profile *d = &s->draft;

	for (size_t i = 0; i < p->n_blocks; i++)
		s->keys[i] = (struct radix_key){
			.word = { map_process(s, p->blocks[i].process), start[i], end[i] },
			.index = (uint32_t)i,
		};
	if (ALLOCATE(&d->blocks, sort_keys(s, p->n_blocks)) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block b = p->blocks[s->keys[i].index], *into;

		if (i == 0 || radix_compare(&s->keys[i - 1], &s->keys[i]) != 0) {
			b.process = map_process(s, b.process);
			b.object = map_object(s, b.object);
			d->blocks[d->n_blocks++] = b;
			continue;
		}
		into = &d->blocks[d->n_blocks - 1];
		into->runs += b.runs;
		into->cycles += b.cycles;
		into->cycles_rows += b.cycles_rows;
	}
	return 0;
}
