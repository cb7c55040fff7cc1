/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of profile_finalize() and profile_unite() share this header; no other file includes it.
 */
#pragma once

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/profile/profile.h"
#include "common/profile/radix.h"
#include "common/util/array.h"

struct finalize {
	const struct profile *p;
	struct profile draft; /* the new processes, objects, functions and places of stacks */

	uint32_t *process_map; /* old index to new */
	uint32_t *object_map;  /* likewise; PROFILE_NONE: unused */
	uint32_t *stack_map, *stream_map;
	size_t *n_location_refs; /* per old object; the last: of no object */

	struct radix_key *keys;   /* the group or table being sorted, with spare room to sort it */
	struct radix_key *places; /* distinct locations, sorted; freed by finalize_functions() */
	size_t n_places, cap_places;
	/* of each location reference: its index in @places; of a stack, from finalize_functions()
	 * on, in those of the draft, which have the same order */
	uint32_t *rank;
	uint32_t *stack_order, *stream_order; /* of old indices */
	uint32_t *branch_order, *block_order; /* part of @rank, see finalize_order_branches() */
};

static inline uint32_t finalize_map_process(const struct finalize *s, uint32_t i)
{
	assert(i == PROFILE_NONE || i < s->p->n_processes);
	return i == PROFILE_NONE ? PROFILE_NONE : s->process_map[i];
}

static inline uint32_t finalize_map_object(const struct finalize *s, uint32_t i)
{
	assert(i == PROFILE_NONE || i < s->p->n_objects);
	return i == PROFILE_NONE ? PROFILE_NONE : s->object_map[i];
}

/*
 * A location reference is a location in a row of a long table. All references are numbered, part
 * after part: the frames of stacks; of branches all @from, then all @to; of blocks all starts, then
 * all ends; of streams all @from, then all @to. These are the first numbers of the parts.
 */
static inline size_t location_ref_from(const struct profile *p)
{
	return p->n_stacks;
}

static inline size_t location_ref_to(const struct profile *p)
{
	return location_ref_from(p) + p->n_branches;
}

static inline size_t location_ref_start(const struct profile *p)
{
	return location_ref_to(p) + p->n_branches;
}

static inline size_t location_ref_end(const struct profile *p)
{
	return location_ref_start(p) + p->n_blocks;
}

static inline size_t location_ref_stream_from(const struct profile *p)
{
	return location_ref_end(p) + p->n_blocks;
}

static inline size_t location_ref_stream_to(const struct profile *p)
{
	return location_ref_stream_from(p) + p->n_streams;
}

static inline size_t n_location_refs(const struct profile *p)
{
	return location_ref_stream_to(p) + p->n_streams;
}

/* The order in which objects that are the same follow each other, the one that stays first. */
void finalize_order_objects(uint32_t *order, const struct profile *p);

/* The canonical order of objects; 0 if all of their fields but the base are equal. */
int finalize_compare_objects(const struct profile_object *a, const struct profile_object *b);

/* In this order, after the maps are filled. Each returns 0 or -ENOMEM. */
int finalize_places(struct finalize *s);
int finalize_functions(struct finalize *s);
int finalize_order_stacks(struct finalize *s);
int finalize_order_streams(struct finalize *s);

/* These overwrite the ranks of their table, so they come last. */
void finalize_order_branches(struct finalize *s);
void finalize_order_blocks(struct finalize *s);

/* Sort the rows of @p by these orders, add up equal ones, and update the references. */
void finalize_apply_stacks(struct finalize *s, struct profile *p);
void finalize_apply_streams(struct finalize *s, struct profile *p);
void finalize_apply_branches(struct finalize *s, struct profile *p);
void finalize_apply_blocks(struct finalize *s, struct profile *p);
