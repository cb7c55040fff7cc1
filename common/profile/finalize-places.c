/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All locations of the long tables are sorted once, object by object. A row is then sorted by the
 * ranks of its locations. One sweep along the sorted locations finds the used functions, another
 * the function of each place of stacks.
 *
 * Objects are processed in groups, so that only the location references of one group are in memory.
 *
 * The limit: 2^32 location references, each of which takes 4 bytes during finalizing; that of a
 * stack 4 more, which stay.
 */
#include "common/profile/finalize-internal.h"

#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* The key of a location; @index is the number of the reference. */
static inline struct radix_key place_key(const struct finalize *s, uint32_t object, uint64_t offset,
					 size_t index)
{
	return (struct radix_key){
		.word = { finalize_map_object(s, object), (uint32_t)(offset >> 32),
			  (uint32_t)offset },
		.index = (uint32_t)index,
	};
}

/* The first index of each object among the sorted references; the last part is of no object. */
static int find_parts(const struct finalize *s, size_t **ret_parts)
{
	size_t n_old = s->p->n_objects, n_new = s->draft.n_objects, sum = 0;
	size_t *parts = calloc(n_new + 2, sizeof(*parts));

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < n_old; i++) {
		if (s->object_map[i] != PROFILE_NONE)
			parts[s->object_map[i]] += s->n_location_refs[i];
	}
	parts[n_new] = s->n_location_refs[n_old];
	for (size_t i = 0; i <= n_new + 1; i++) {
		size_t count = parts[i];

		parts[i] = sum;
		sum += count;
	}
	*ret_parts = parts;
	return 0;
}

/* A range of objects whose location references are sorted together. */
struct group {
	size_t max;          /* references */
	uint32_t first, end; /* new indices of objects; the one after the last: no object */
	size_t base;         /* the first index of its first object */
	size_t *parts;       /* of all objects: the first index, or once collected the end */
};

static inline void collect_place(struct finalize *s, const struct group *group, uint32_t object,
				 uint64_t offset, size_t ref)
{
	struct radix_key key = place_key(s, object, offset, ref);
	uint32_t part = MIN(key.word[0], (uint32_t)s->draft.n_objects);

	if (part >= group->first && part < group->end)
		s->keys[group->parts[part]++ - group->base] = key;
}

/* Puts each location reference of the group into its object's part. */
static void collect_places(struct finalize *s, const struct group *group)
{
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->n_stacks; i++)
		collect_place(s, group, p->stacks[i].frame.object, p->stacks[i].frame.offset, i);
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *b = &p->branches[i];

		collect_place(s, group, b->from.object, b->from.offset, location_ref_from(p) + i);
		collect_place(s, group, b->to.object, b->to.offset, location_ref_to(p) + i);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *b = &p->blocks[i];

		collect_place(s, group, b->object, b->start, location_ref_start(p) + i);
		collect_place(s, group, b->object, b->end, location_ref_end(p) + i);
	}
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct profile_stream *t = &p->streams[i];

		collect_place(s, group, t->from.object, t->from.offset,
			      location_ref_stream_from(p) + i);
		collect_place(s, group, t->to.object, t->to.offset, location_ref_stream_to(p) + i);
	}
}

/* Makes the distinct locations and the ranks of the @n sorted references of a group. */
static int rank_places(struct finalize *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct radix_key *key = &s->keys[i];

		if (i == 0 || radix_compare(key - 1, key) != 0) {
			if (ARRAY_RESERVE(&s->places, &s->cap_places, s->n_places + 1) < 0)
				return -ENOMEM;
			s->places[s->n_places++] = *key;
		}
		s->rank[key->index] = (uint32_t)(s->n_places - 1);
	}
	return 0;
}

static int finalize_group(struct finalize *s, const struct group *group)
{
	struct radix_key *spare = s->keys + group->max;
	size_t start = group->base;

	collect_places(s, group);
	for (uint32_t i = group->first; i < group->end; i++) {
		radix_sort(s->keys + (start - group->base), spare, group->parts[i] - start);
		start = group->parts[i];
	}
	return rank_places(s, start - group->base);
}

/* The end of the group, which has at least one object. */
static uint32_t end_of_group(const struct finalize *s, const struct group *group)
{
	uint32_t end = group->first + 1;

	while (end <= s->draft.n_objects &&
	       group->parts[end + 1] - group->parts[group->first] <= group->max)
		end++;
	return end;
}

static size_t longest_table(const struct profile *p)
{
	size_t longest = MAX(p->n_stacks, p->n_streams);

	longest = MAX(longest, p->n_branches);
	return MAX(longest, p->n_blocks);
}

/*
 * Allocates room for the rows of the longest table or the references of the largest object, twice,
 * because sorting needs a spare copy. A group may use all of it except the spare copy of its
 * largest object. Large groups are better: each group takes a pass over all tables.
 */
static int allocate_keys(struct finalize *s, const size_t *parts, size_t *ret_max_group)
{
	size_t largest = 0, n_keys;

	for (size_t i = 0; i <= s->draft.n_objects; i++)
		largest = MAX(largest, parts[i + 1] - parts[i]);
	n_keys = 2 * MAX(longest_table(s->p), largest);
	*ret_max_group = n_keys - largest;
	return ARRAY_ALLOCATE(&s->keys, n_keys);
}

int finalize_places(struct finalize *s)
{
	_cleanup_free_ size_t *parts = NULL;
	size_t n = n_location_refs(s->p);
	struct group group = { 0 };

	if (n > UINT32_MAX)
		return -ENOMEM;
	if (ARRAY_ALLOCATE(&s->rank, n) < 0 || find_parts(s, &parts) < 0 ||
	    allocate_keys(s, parts, &group.max) < 0)
		return -ENOMEM;
	group.parts = parts;
	for (; group.first <= s->draft.n_objects; group.first = group.end) {
		group.end = end_of_group(s, &group);
		group.base = parts[group.first];
		if (finalize_group(s, &group) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Makes the keys of the functions in used objects. */
static size_t collect_functions(const struct finalize *s, struct radix_key *keys)
{
	size_t n = 0;

	for (size_t i = 0; i < s->p->n_functions; i++) {
		const struct profile_function *f = &s->p->functions[i];

		if (f->object != PROFILE_NONE && finalize_map_object(s, f->object) == PROFILE_NONE)
			continue;
		keys[n++] = place_key(s, f->object, f->start, i);
	}
	return n;
}

/* @place does not precede the function's start. */
static bool place_is_inside(const struct radix_key *place, const struct radix_key *start,
			    uint64_t size)
{
	uint64_t at = (uint64_t)place->word[1] << 32 | place->word[2];
	uint64_t from = (uint64_t)start->word[1] << 32 | start->word[2];

	return place->word[0] == start->word[0] && at - from < size;
}

/* Of several functions with one start the first in this order stays. Unknown comes last. */
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

/*
 * The last offset of all functions that start before the current one. It says whether the byte
 * before the current one is in a function.
 */
struct reach {
	uint32_t object;
	uint64_t start; /* of the current function */
	uint64_t last;  /* of the functions before @start, if @any */
	uint64_t next;  /* of the functions up to @start, if @any_next */
	bool any, any_next;
};

static void reach_move(struct reach *reach, const struct radix_key *key,
		       const struct profile_function *f)
{
	if (reach->object != key->word[0])
		*reach = (struct reach){ .object = key->word[0], .start = f->start };
	if (reach->start != f->start) {
		reach->start = f->start;
		reach->last = reach->next;
		reach->any = reach->any_next;
	}
	if (f->size == 0)
		return;
	reach->next = reach->any_next ? MAX(reach->next, last_offset(f)) : last_offset(f);
	reach->any_next = true;
}

/* Of equal references the first stays, and those of stacks come first. */
static bool is_of_stack(const struct finalize *s, const struct radix_key *place)
{
	return place->index < s->p->n_stacks;
}

/* True if profile_place_frame() moves a stack's frame from the byte before @f to @f. */
static bool frame_leads_to(const struct finalize *s, size_t place, const struct profile_function *f,
			   const struct reach *reach)
{
	const struct radix_key *key;
	uint64_t before = f->start - 1;

	if (place == 0 || f->start == 0 || f->size == 0)
		return false;
	key = &s->places[place - 1];
	return key->word[0] == reach->object && key->word[1] == (uint32_t)(before >> 32) &&
	       key->word[2] == (uint32_t)before && is_of_stack(s, key) &&
	       !(reach->any && reach->last >= before);
}

/* Links each function to the last one before it that ends behind it, for profile_find_function().
 */
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

static bool starts_behind(const struct profile_function *f, const struct profile_place *place)
{
	return f->object > place->object ||
	       (f->object == place->object && f->start > place->offset);
}

/* Makes the places of stacks. In @places, the index of each then is its number in the draft. */
static void fill_stack_places(struct finalize *s)
{
	struct profile *d = &s->draft;
	size_t n_before = 0;

	for (size_t i = 0; i < s->n_places; i++) {
		struct radix_key *key = &s->places[i];
		struct profile_place place = {
			.object = key->word[0],
			.offset = (uint64_t)key->word[1] << 32 | key->word[2],
		};

		if (!is_of_stack(s, key))
			continue;
		while (n_before < d->n_functions && !starts_behind(&d->functions[n_before], &place))
			n_before++;
		place.function = profile_innermost(
			d, n_before == 0 ? PROFILE_NONE : (uint32_t)(n_before - 1),
			(struct location){ place.object, place.offset });
		key->index = (uint32_t)d->n_places;
		d->places[d->n_places++] = place;
	}
	for (size_t i = 0; i < s->p->n_stacks; i++)
		s->rank[i] = s->places[s->rank[i]].index;
}

static int finalize_stack_places(struct finalize *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_places; i++)
		n += is_of_stack(s, &s->places[i]);
	if (ARRAY_ALLOCATE(&s->draft.places, n) < 0 ||
	    ARRAY_ALLOCATE(&s->draft.stack_places, s->p->n_stacks) < 0)
		return -ENOMEM;
	fill_stack_places(s);
	free(TAKE_PTR(s->places));
	return 0;
}

int finalize_functions(struct finalize *s)
{
	_cleanup_free_ struct radix_key *keys = NULL, *spare = NULL;
	const struct profile *p = s->p;
	struct profile *d = &s->draft;
	struct reach reach = { .object = PROFILE_NONE };
	size_t n, place = 0;

	if (ARRAY_ALLOCATE(&keys, p->n_functions) < 0 ||
	    ARRAY_ALLOCATE(&spare, p->n_functions) < 0 ||
	    ARRAY_ALLOCATE(&d->functions, p->n_functions) < 0)
		return -ENOMEM;
	n = collect_functions(s, keys);
	radix_sort(keys, spare, n);
	for (size_t i = 0; i < n; i++) {
		struct profile_function f = p->functions[keys[i].index];

		while (place < s->n_places && radix_compare(&s->places[place], &keys[i]) < 0)
			place++;
		reach_move(&reach, &keys[i], &f);
		if (!(place < s->n_places &&
		      place_is_inside(&s->places[place], &keys[i], f.size)) &&
		    !frame_leads_to(s, place, &f, &reach))
			continue;
		f.object = keys[i].word[0];
		append_function(d, f);
	}
	if (ARRAY_ALLOCATE(&d->outer, d->n_functions) < 0)
		return -ENOMEM;
	link_outer(d);
	return finalize_stack_places(s);
}
