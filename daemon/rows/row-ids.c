/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/row-ids.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/profile/other.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

/* The nodes of a tree being listed, stacks or streams. */
struct nodes {
	struct interned *ids;
	struct interned *places; /* of stacks: those of the profile */
	bool *inner;             /* there is a deeper one */
};

static void nodes_done(struct nodes *nodes)
{
	free(nodes->ids);
	free(nodes->places);
	free(nodes->inner);
}

void row_ids_done(struct row_ids *ids)
{
	free(ids->objects);
	free(ids->processes);
	free(ids->functions);
	free(ids->led_to);
	row_order_done(&ids->order);
}

int row_ids_init(struct row_ids *ids)
{
	const struct profile *p = ids->profile;

	assert(p->finalized);

	if (ARRAY_ALLOCATE_ZEROED(&ids->objects, p->n_objects) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&ids->processes, p->n_processes) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&ids->functions, p->n_functions) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&ids->led_to, p->n_functions) < 0)
		return -ENOMEM;
	return 0;
}

static struct interned object_row(const struct row_ids *ids, uint32_t i)
{
	return i == PROFILE_NONE ? INTERNED_NONE : ids->objects[i];
}

static int64_t process_id(const struct row_ids *ids, uint32_t i)
{
	return i == PROFILE_NONE ? 0 : ids->processes[i].id;
}

int row_ids_intern_short_tables(struct row_ids *ids)
{
	struct store_intern *intern = ids->intern;
	const struct profile *p = ids->profile;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_objects; i++)
		r = store_intern_object(intern, &p->objects[i], &ids->objects[i]);
	for (size_t i = 0; r >= 0 && i < p->n_processes; i++)
		r = store_intern_process(intern, &p->processes[i], &ids->processes[i]);
	for (size_t i = 0; r >= 0 && i < p->n_functions; i++)
		r = store_intern_function(intern, object_row(ids, p->functions[i].object),
					  &p->functions[i], &ids->functions[i]);
	return r;
}

static int intern_address(struct row_ids *ids, struct location location, struct interned function,
			  struct interned *ret)
{
	return store_intern_place(ids->intern, object_row(ids, location.object), location.offset,
				  function, ret);
}

/* @function: an index, or PROFILE_NONE. */
static int intern_place_in(struct row_ids *ids, struct location location, uint32_t function,
			   struct interned *ret)
{
	struct interned row = INTERNED_NONE;

	if (function != PROFILE_NONE) {
		ids->led_to[function] = true;
		row = ids->functions[function];
	}
	return intern_address(ids, location, row, ret);
}

static int intern_place(struct row_ids *ids, struct location location, struct interned *ret)
{
	const struct profile *p = ids->profile;
	const struct profile_function *function = profile_find_function(p, location);

	return intern_place_in(ids, location,
			       function ? (uint32_t)(function - p->functions) : PROFILE_NONE, ret);
}

/* Each once, those of an object in the order of the database's index. */
static int intern_stack_places(struct row_ids *ids, struct interned *places)
{
	const struct profile *p = ids->profile;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_places; i++) {
		const struct profile_place *place = &p->places[i];

		r = intern_place_in(ids, (struct location){ place->object, place->offset },
				    place->function, &places[i]);
	}
	return r;
}

/* Both ends of a row; those of one that stands for others are in no function. */
static int intern_ends(struct row_ids *ids, bool is_other, const struct location ends[2],
		       struct interned ret[2])
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < 2; i++)
		r = is_other ? intern_address(ids, ends[i], INTERNED_NONE, &ret[i]) :
			       intern_place(ids, ends[i], &ret[i]);
	return r;
}

/* A node above others needs a row only if samples were taken in it. */
static bool stack_has_row(const struct profile_stack *stack, bool inner)
{
	return !inner || stack->samples || stack->stitched || stack->weight;
}

static int list_stack(struct row_ids *ids, const struct nodes *nodes, size_t i)
{
	const struct profile_stack *stack = &ids->profile->stacks[i];
	struct interned parent = INTERNED_NONE;
	struct interned place = nodes->places[ids->profile->stack_places[i]];

	if (stack->parent != PROFILE_NONE)
		parent = nodes->ids[stack->parent];
	if (stack_has_row(stack, nodes->inner[i]))
		row_order_add(&ids->order, process_id(ids, stack->process), parent.id, place.id, i);
	return nodes->inner[i] ? store_intern_stack(ids->intern, parent, place, &nodes->ids[i]) : 0;
}

int row_ids_list_stacks(struct row_ids *ids)
{
	_cleanup_(nodes_done) struct nodes nodes = {};
	const struct profile *p = ids->profile;
	size_t n_rows = 0;
	int r = 0;

	if (ARRAY_ALLOCATE(&nodes.ids, p->n_stacks) < 0 ||
	    ARRAY_ALLOCATE(&nodes.places, p->n_places) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&nodes.inner, p->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].parent != PROFILE_NONE)
			nodes.inner[p->stacks[i].parent] = true;
	for (size_t i = 0; i < p->n_stacks; i++)
		n_rows += stack_has_row(&p->stacks[i], nodes.inner[i]);
	r = row_order_begin(&ids->order, n_rows);
	if (r >= 0)
		r = intern_stack_places(ids, nodes.places);
	for (size_t i = 0; r >= 0 && i < p->n_stacks; i++)
		r = list_stack(ids, &nodes, i);
	row_order_sort(&ids->order);
	return r;
}

static int intern_stream(struct row_ids *ids, const struct nodes *nodes, size_t i)
{
	const struct profile_stream *stream = &ids->profile->streams[i];
	struct interned parent = INTERNED_NONE, ends[2];
	int r;

	if (stream->parent != PROFILE_NONE) {
		parent = nodes->ids[stream->parent];
		nodes->inner[stream->parent] = true;
	}
	r = intern_ends(ids, other_is_stream(stream),
			(const struct location[2]){ stream->from, stream->to }, ends);
	if (r < 0)
		return r;
	return store_intern_stream(ids->intern, parent, ends[0], ends[1], &nodes->ids[i]);
}

int row_ids_list_streams(struct row_ids *ids)
{
	_cleanup_(nodes_done) struct nodes nodes = {};
	const struct profile *p = ids->profile;
	int r = row_order_begin(&ids->order, p->n_streams);

	if (r < 0 || ARRAY_ALLOCATE(&nodes.ids, p->n_streams) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&nodes.inner, p->n_streams) < 0)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < p->n_streams; i++)
		r = intern_stream(ids, &nodes, i);
	for (size_t i = 0; r >= 0 && i < p->n_streams; i++) {
		const struct profile_stream *stream = &p->streams[i];

		if (!nodes.inner[i] || stream->hits || stream->pruned || stream->cycles)
			row_order_add(&ids->order, process_id(ids, stream->process),
				      nodes.ids[i].id, 0, i);
	}
	row_order_sort(&ids->order);
	return r;
}

int row_ids_list_branches(struct row_ids *ids)
{
	const struct profile *p = ids->profile;
	int r = row_order_begin(&ids->order, p->n_branches);

	for (size_t i = 0; r >= 0 && i < p->n_branches; i++) {
		const struct profile_branch *branch = &p->branches[i];
		struct interned ends[2];

		r = intern_ends(ids, other_is_branch(branch),
				(const struct location[2]){ branch->from, branch->to }, ends);
		if (r >= 0)
			row_order_add(&ids->order, process_id(ids, branch->process), ends[0].id,
				      ends[1].id, i);
	}
	row_order_sort(&ids->order);
	return r;
}

int row_ids_list_blocks(struct row_ids *ids)
{
	const struct profile *p = ids->profile;
	int r = row_order_begin(&ids->order, p->n_blocks);

	for (size_t i = 0; r >= 0 && i < p->n_blocks; i++) {
		const struct profile_block *block = &p->blocks[i];
		const struct location at[2] = { { block->object, block->start },
						{ block->object, block->end } };
		struct interned ends[2];

		r = intern_ends(ids, other_is_block(block), at, ends);
		if (r >= 0)
			row_order_add(&ids->order, process_id(ids, block->process), ends[0].id,
				      ends[1].id, i);
	}
	row_order_sort(&ids->order);
	return r;
}
