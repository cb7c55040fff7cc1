/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Closing a window: raw addresses become places in objects, once per distinct row and frame, and the
 * pairs of run and branch come apart into blocks and branches.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/profile/builder-internal.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define MAX_RUN_BYTES (1u << 20) /* no straight code is longer; as google/autofdo has it */

struct settling {
	struct builder *builder;
	const struct processes *processes;
	struct profile *profile;
	struct object **objects; /* those numbered; their index is to be taken back */
	size_t n_objects, cap_objects;
	uint32_t *stacks;        /* by frame node: the index of its stack in the profile */
};

/* The object's index in the profile; it gets one when it is met first. */
static int64_t number_object(struct settling *s, const struct mapping *m)
{
	struct object *object = m->object;
	int64_t index;

	if (object->index != PROFILE_NONE)
		return object->index;
	if (ARRAY_RESERVE(&s->objects, &s->cap_objects, s->n_objects + 1) < 0)
		return -ENOMEM;
	index = profile_add_object(s->profile, &object->what);
	if (index < 0)
		return index;
	object->index = (uint32_t)index;
	s->objects[s->n_objects++] = object;
	if (object->function) {
		struct profile_function f = { .object = object->index,
					      .size = m->end - m->start,
					      .name = object->function };

		if (profile_add_function(s->profile, &f) < 0)
			return -ENOMEM;
	}
	return index;
}

static int locate(struct settling *s, uint32_t context, uint64_t address, struct location *ret)
{
	const struct incarnation *i = s->builder->contexts[context].incarnation;
	const struct mapping *m = processes_locate(s->processes, i, address);
	int64_t object;

	if (!m) {
		*ret = (struct location){ PROFILE_NONE, address };
		return 0;
	}
	object = number_object(s, m);
	if (object < 0)
		return (int)object;
	*ret = (struct location){ (uint32_t)object, address + m->shift };
	return 0;
}

static int settle_processes(struct settling *s)
{
	for (size_t i = 0; i < s->builder->n_contexts; i++) {
		const struct context *c = &s->builder->contexts[i];
		struct profile_process p = {
			.pid = c->incarnation->pid,
			.start_ns = c->incarnation->start_ns,
			.comm = c->incarnation->comm,
			.executable = c->incarnation->executable,
			.unit = c->incarnation->unit,
			.uid = c->incarnation->uid,
			.samples = c->samples,
		};

		if (profile_add_process(s->profile, &p) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int settle_frames(struct settling *s)
{
	const struct frame_table *frames = &s->builder->frames;

	s->stacks = calloc(frames->n_nodes + 1, sizeof(*s->stacks));
	if (!s->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < frames->n_nodes; i++) {
		const struct frame_node *node = &frames->nodes[i];
		struct profile_stack stack = {
			.parent = node->parent == FRAME_ROOT ? PROFILE_NONE :
							       s->stacks[node->parent],
			.process = node->context,
			.samples = node->samples,
			.weight = node->weight,
		};
		int64_t index;

		if (locate(s, node->context, node->address, &stack.frame) < 0)
			return -ENOMEM;
		if (stack.frame.object == PROFILE_NONE)
			s->profile->counters.unmapped += node->samples;
		index = profile_add_stack(s->profile, &stack);
		if (index < 0)
			return -ENOMEM;
		s->stacks[i] = (uint32_t)index;
	}
	return 0;
}

static int settle_branch(struct settling *s, const struct row_slot *slot, struct location from,
			 struct location to)
{
	struct profile_branch b = {
		.process = slot->context,
		.from = from,
		.to = to,
		.taken = slot->taken,
		.mispredicted = slot->mispredicted,
		.aborted = slot->aborted,
		.cycles = slot->cycles,
		.cycles_rows = slot->cycles_rows,
	};

	s->profile->counters.rows_counted += slot->taken;
	s->profile->counters.cycles += slot->cycles;
	return profile_add_branch(s->profile, &b) < 0 ? -ENOMEM : 0;
}

/* The counter of the reason not to believe the run from @start to @end; NULL if it is sound. */
static uint64_t *doubt_run(struct profile_counters *c, struct location start, struct location end)
{
	if (start.object != end.object || start.object == PROFILE_NONE)
		return &c->runs_across;
	if (end.offset < start.offset)
		return &c->runs_backward;
	if (end.offset - start.offset > MAX_RUN_BYTES)
		return &c->runs_long;
	return NULL;
}

static int settle_block(struct settling *s, const struct row_slot *slot, struct location start,
			struct location end)
{
	uint64_t *doubt = doubt_run(&s->profile->counters, start, end);
	struct profile_block b = {
		.process = slot->context,
		.object = start.object,
		.start = start.offset,
		.end = end.offset,
		.runs = slot->taken,
		.cycles = slot->cycles,
		.cycles_rows = slot->cycles_rows,
	};

	if (doubt) {
		*doubt += slot->taken;
		return 0;
	}
	s->profile->counters.runs_counted += slot->taken;
	return profile_add_block(s->profile, &b) < 0 ? -ENOMEM : 0;
}

static int settle_rows(struct settling *s)
{
	const struct row_table *rows = &s->builder->rows;

	for (size_t i = 0; i < row_table_n_slots(rows); i++) {
		const struct row_slot *slot = &rows->slots[i];
		struct location begin, from, to;

		if (slot->taken == 0)
			continue;
		if (locate(s, slot->context, slot->from, &from) < 0 ||
		    locate(s, slot->context, slot->to, &to) < 0 ||
		    settle_branch(s, slot, from, to) < 0)
			return -ENOMEM;
		if (slot->begin == 0)
			continue;
		if (locate(s, slot->context, slot->begin, &begin) < 0 ||
		    settle_block(s, slot, begin, from) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int settle_all(struct settling *s)
{
	int r;

	r = settle_processes(s);
	if (r >= 0)
		r = settle_frames(s);
	if (r >= 0)
		r = settle_rows(s);
	for (size_t i = 0; i < s->n_objects; i++)
		s->objects[i]->index = PROFILE_NONE;
	free(s->objects);
	free(s->stacks);
	return r;
}

int builder_close(struct builder *builder, const struct processes *processes, struct profile **ret)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct settling settling = { .builder = builder, .processes = processes };
	int r;

	r = profile_new(&profile);
	if (r < 0)
		return r;
	profile->counters = builder->counters;
	profile->info.start_ns = builder->start_ns;
	profile->info.end_ns = builder->end_ns;
	settling.profile = profile;
	r = settle_all(&settling);
	if (r < 0)
		return r;

	r = row_table_clear(&builder->rows);
	if (r < 0)
		return r;
	frame_table_clear(&builder->frames);
	builder_forget_contexts(builder);
	builder->counters = (struct profile_counters){ 0 };
	builder->start_ns = builder->end_ns = 0;
	*ret = TAKE_PTR(profile);
	return 0;
}
