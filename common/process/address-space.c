/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/process/address-space.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define TRIM_AT_ONCE 4    /* mappings */
#define STEP         7919 /* a prime, so that those dropped are spread over the space */

/* Spaces outlive their processes, and those who made them; so all are counted here. */
static _Atomic size_t total;

struct object *object_new(const struct profile_object *what, const char *function)
{
	_cleanup_(object_unrefp) struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->n_refs = 1;
	o->index = PROFILE_NONE;
	o->table = PROFILE_NONE;
	o->what = *what;
	o->what.path = strdup(what->path);
	if (!o->what.path)
		return NULL;
	if (function) {
		o->function = strdup(function);
		if (!o->function)
			return NULL;
	}
	return TAKE_PTR(o);
}

struct object *object_ref(struct object *object)
{
	object->n_refs++;
	return object;
}

struct object *object_unref(struct object *object)
{
	if (!object || --object->n_refs > 0)
		return NULL;
	free((char *)object->what.path);
	free((char *)object->function);
	free(object);
	return NULL;
}

/* A mapping, and its object as if nobody shared it; objects keep their path twice. */
static size_t size_of(const struct mapping *mapping)
{
	return sizeof(*mapping) + sizeof(*mapping->object) + 2 * strlen(mapping->object->what.path);
}

static void grow(struct address_space *space, size_t n)
{
	space->n_bytes += n;
	atomic_fetch_add_explicit(&total, n, memory_order_relaxed);
}

static void shrink(struct address_space *space, size_t n)
{
	space->n_bytes -= n;
	atomic_fetch_sub_explicit(&total, n, memory_order_relaxed);
}

size_t address_space_total(void)
{
	return atomic_load_explicit(&total, memory_order_relaxed);
}

struct address_space *address_space_new(void)
{
	struct address_space *s = calloc(1, sizeof(*s));

	if (s)
		s->n_refs = 1;
	return s;
}

struct address_space *address_space_copy(const struct address_space *space)
{
	struct address_space *s = address_space_new();

	if (!s || space->n_mappings == 0)
		return s;
	if (ARRAY_RESERVE(&s->mappings, &s->cap_mappings, space->n_mappings) < 0)
		return address_space_unref(s);
	memcpy(s->mappings, space->mappings, space->n_mappings * sizeof(*s->mappings));
	s->n_mappings = space->n_mappings;
	for (size_t i = 0; i < s->n_mappings; i++)
		object_ref(s->mappings[i].object);
	grow(s, space->n_bytes);
	return s;
}

struct address_space *address_space_ref(struct address_space *space)
{
	space->n_refs++;
	return space;
}

struct address_space *address_space_unref(struct address_space *space)
{
	if (!space || --space->n_refs > 0)
		return NULL;
	for (size_t i = 0; i < space->n_mappings; i++)
		object_unref(space->mappings[i].object);
	shrink(space, space->n_bytes);
	free(space->mappings);
	free(space);
	return NULL;
}

/* The first mapping that ends after @address. */
static size_t find_index(const struct address_space *s, uint64_t address)
{
	size_t low = 0, high = s->n_mappings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->mappings[middle].end <= address && s->mappings[middle].end != UINT64_MAX)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct mapping *address_space_find(const struct address_space *space, uint64_t address)
{
	size_t i = find_index(space, address);

	if (i == space->n_mappings || space->mappings[i].start > address)
		return NULL;
	return &space->mappings[i];
}

bool address_space_overlaps(const struct address_space *space, const struct mapping *mapping)
{
	size_t i = find_index(space, mapping->start);
	const struct mapping *m;

	if (mapping->start >= mapping->end)
		return false;
	for (; i < space->n_mappings && space->mappings[i].start < mapping->end; i++) {
		m = &space->mappings[i];
		if (m->object != mapping->object || m->shift != mapping->shift)
			return true;
	}
	return false;
}

static int insert_at(struct address_space *s, size_t i, const struct mapping *mapping)
{
	if (ARRAY_RESERVE(&s->mappings, &s->cap_mappings, s->n_mappings + 1) < 0)
		return -ENOMEM;
	memmove(s->mappings + i + 1, s->mappings + i, (s->n_mappings - i) * sizeof(*s->mappings));
	s->mappings[i] = *mapping;
	object_ref(mapping->object);
	grow(s, size_of(mapping));
	s->n_mappings++;
	return 0;
}

static void remove_at(struct address_space *s, size_t i)
{
	shrink(s, size_of(&s->mappings[i]));
	object_unref(s->mappings[i].object);
	s->n_mappings--;
	memmove(s->mappings + i, s->mappings + i + 1, (s->n_mappings - i) * sizeof(*s->mappings));
}

int address_space_unmap(struct address_space *space, uint64_t start, uint64_t end)
{
	size_t i = find_index(space, start);

	if (start >= end)
		return 0;
	while (i < space->n_mappings && space->mappings[i].start < end) {
		struct mapping *m = &space->mappings[i], tail = *m;

		if (m->start < start && m->end > end) { /* a hole in its middle */
			tail.start = end;
			if (insert_at(space, i + 1, &tail) < 0)
				return -ENOMEM;
			space->mappings[i].end = start;
			return 0;
		}
		if (m->start < start) {
			m->end = start;
			i++;
		} else if (m->end > end) {
			m->start = end;
			return 0;
		} else {
			remove_at(space, i);
		}
	}
	return 0;
}

int address_space_map(struct address_space *space, const struct mapping *mapping)
{
	int r;

	if (mapping->start >= mapping->end)
		return 0;
	r = address_space_unmap(space, mapping->start, mapping->end);
	if (r < 0)
		return r;
	return insert_at(space, find_index(space, mapping->start), mapping);
}

void address_space_trim(struct address_space *space, size_t max_bytes, uint64_t keep)
{
	for (int n = 0; n < TRIM_AT_ONCE && space->n_bytes > max_bytes && space->n_mappings > 1;
	     n++) {
		size_t i = (space->next_dropped += STEP) % space->n_mappings;

		if (space->mappings[i].start != keep)
			remove_at(space, i);
	}
}
