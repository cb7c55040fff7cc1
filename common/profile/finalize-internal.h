/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of sealing share; nobody else includes this. */
#pragma once

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/profile/profile.h"
#include "common/profile/radix.h"
#include "common/util/array.h"

struct finalize {
	const struct profile *p;
	struct profile draft; /* processes, objects, functions as they will be */

	uint32_t *process_map; /* old index to new */
	uint32_t *object_map;  /* likewise; PROFILE_NONE for those that nothing refers to */
	uint32_t *stack_map, *stream_map;
	size_t *n_location_refs; /* of each old object in the long tables; the last is of no object
				  */

	struct radix_key *keys; /* of the group or table being sorted, and as much for sorting it */
	struct radix_key *places; /* the distinct ones, in order, until functions are sealed */
	size_t n_places, cap_places;
	uint32_t *rank;                       /* of the place, for each mention of one */
	uint32_t *stack_order, *stream_order; /* of old indices */
	uint32_t *branch_order,
		*block_order; /* which are in @rank, see finalize_order_branches() */
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
 * Where the mentions of the tables begin: of each stack its frame, of all branches first the from
 * and then the to, of all blocks first the start and then the end, of all streams as of branches.
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

/*
 * Each 0 or -ENOMEM. The maps come first, then the places, then the functions, then the orders.
 */
int finalize_places(struct finalize *s);
int finalize_functions(struct finalize *s);
int finalize_order_stacks(struct finalize *s);
int finalize_order_streams(struct finalize *s);

/* These take as much of the ranks as they need: they come last. */
void finalize_order_branches(struct finalize *s);
void finalize_order_blocks(struct finalize *s);

/* Sort the rows of @p by these orders, add up the equal ones, and refer to the new indices. */
void finalize_apply_stacks(struct finalize *s, struct profile *p);
void finalize_apply_streams(struct finalize *s, struct profile *p);
void finalize_apply_branches(struct finalize *s, struct profile *p);
void finalize_apply_blocks(struct finalize *s, struct profile *p);
