/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/writing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/other.h"
#include "common/util/array.h"

void writing_done(struct writing *writing)
{
	free(writing->objects);
	free(writing->processes);
	free(writing->functions);
	free(writing->stacks);
	free(writing->streams);
	free(writing->led_to);
	free(writing->inner);
	free(writing->order.rows);
}

int writing_init(struct writing *writing)
{
	const struct profile *p = writing->profile;
	size_t n_nodes = MAX(p->n_stacks, p->n_streams);
	size_t n_rows = MAX(p->n_processes, n_nodes);

	n_rows = MAX(n_rows, p->n_branches);
	n_rows = MAX(n_rows, p->n_blocks);
	if (ARRAY_ALLOCATE_ZEROED(&writing->objects, p->n_objects) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->processes, p->n_processes) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->functions, p->n_functions) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->stacks, p->n_stacks) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->streams, p->n_streams) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->led_to, p->n_functions) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->inner, n_nodes) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&writing->order.rows, n_rows) < 0)
		return -ENOMEM;
	return 0;
}

static struct interned object_row(const struct writing *writing, uint32_t i)
{
	return i == PROFILE_NONE ? INTERNED_NONE : writing->objects[i];
}

static int64_t process_id(const struct writing *writing, uint32_t i)
{
	return i == PROFILE_NONE ? 0 : writing->processes[i].id;
}

int writing_intern_short_tables(struct writing *writing)
{
	struct store_intern *intern = writing->intern;
	const struct profile *p = writing->profile;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->n_objects; i++)
		r = store_intern_object(intern, &p->objects[i], &writing->objects[i]);
	for (size_t i = 0; r >= 0 && i < p->n_processes; i++)
		r = store_intern_process(intern, &p->processes[i], &writing->processes[i]);
	for (size_t i = 0; r >= 0 && i < p->n_functions; i++)
		r = store_intern_function(intern, object_row(writing, p->functions[i].object),
					  &p->functions[i], &writing->functions[i]);
	return r;
}

static int intern_address(struct writing *writing, struct location location,
			  struct interned function, struct interned *ret)
{
	return store_intern_place(writing->intern, object_row(writing, location.object),
				  location.offset, function, ret);
}

static int intern_place(struct writing *writing, struct location location, struct interned *ret)
{
	const struct profile *p = writing->profile;
	const struct profile_function *function = profile_find_function(p, location);
	struct interned row = INTERNED_NONE;

	if (function) {
		writing->led_to[function - p->functions] = true;
		row = writing->functions[function - p->functions];
	}
	return intern_address(writing, location, row, ret);
}

/* Both ends of a row; those of one that stands for others are in no function. */
static int intern_ends(struct writing *writing, bool is_other, const struct location ends[2],
		       struct interned ret[2])
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < 2; i++)
		r = is_other ? intern_address(writing, ends[i], INTERNED_NONE, &ret[i]) :
			       intern_place(writing, ends[i], &ret[i]);
	return r;
}

/* A node above others needs a row only if samples were taken in it. */
static int list_stack(struct writing *writing, size_t i)
{
	const struct profile_stack *stack = &writing->profile->stacks[i];
	struct interned parent = INTERNED_NONE, place;
	int r;

	if (stack->parent != PROFILE_NONE)
		parent = writing->stacks[stack->parent];
	r = intern_place(writing, stack->frame, &place);
	if (r < 0)
		return r;
	if (!writing->inner[i] || stack->samples || stack->stitched || stack->weight)
		row_order_add(&writing->order, process_id(writing, stack->process), parent.id,
			      place.id, i);
	return writing->inner[i] ?
		       store_intern_stack(writing->intern, parent, place, &writing->stacks[i]) :
		       0;
}

int writing_list_stacks(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].parent != PROFILE_NONE)
			writing->inner[p->stacks[i].parent] = true;
	writing->order.n = 0;
	for (size_t i = 0; r >= 0 && i < p->n_stacks; i++)
		r = list_stack(writing, i);
	row_order_sort(&writing->order);
	return r;
}

static int intern_stream(struct writing *writing, size_t i)
{
	const struct profile_stream *stream = &writing->profile->streams[i];
	struct interned parent = INTERNED_NONE, ends[2];
	int r;

	if (stream->parent != PROFILE_NONE) {
		parent = writing->streams[stream->parent];
		writing->inner[stream->parent] = true;
	}
	r = intern_ends(writing, other_is_stream(stream),
			(const struct location[2]){ stream->from, stream->to }, ends);
	if (r < 0)
		return r;
	return store_intern_stream(writing->intern, parent, ends[0], ends[1], &writing->streams[i]);
}

int writing_list_streams(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	memset(writing->inner, 0, p->n_streams * sizeof(*writing->inner));
	for (size_t i = 0; r >= 0 && i < p->n_streams; i++)
		r = intern_stream(writing, i);
	writing->order.n = 0;
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct profile_stream *stream = &p->streams[i];

		if (!writing->inner[i] || stream->hits || stream->pruned || stream->cycles)
			row_order_add(&writing->order, process_id(writing, stream->process),
				      writing->streams[i].id, 0, i);
	}
	row_order_sort(&writing->order);
	return r;
}

int writing_list_branches(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	writing->order.n = 0;
	for (size_t i = 0; r >= 0 && i < p->n_branches; i++) {
		const struct profile_branch *branch = &p->branches[i];
		struct interned ends[2];

		r = intern_ends(writing, other_is_branch(branch),
				(const struct location[2]){ branch->from, branch->to }, ends);
		if (r >= 0)
			row_order_add(&writing->order, process_id(writing, branch->process),
				      ends[0].id, ends[1].id, i);
	}
	row_order_sort(&writing->order);
	return r;
}

int writing_list_blocks(struct writing *writing)
{
	const struct profile *p = writing->profile;
	int r = 0;

	writing->order.n = 0;
	for (size_t i = 0; r >= 0 && i < p->n_blocks; i++) {
		const struct profile_block *block = &p->blocks[i];
		const struct location at[2] = { { block->object, block->start },
						{ block->object, block->end } };
		struct interned ends[2];

		r = intern_ends(writing, other_is_block(block), at, ends);
		if (r >= 0)
			row_order_add(&writing->order, process_id(writing, block->process),
				      ends[0].id, ends[1].id, i);
	}
	row_order_sort(&writing->order);
	return r;
}
