/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Closing a window: raw addresses become places in objects, once per distinct row and frame, and the
 * pairs of run and branch come apart into blocks and branches.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/builder/builder-internal.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

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

int settle_locate(struct settling *s, uint32_t context, uint64_t address, struct location *ret)
{
	const struct incarnation *i = s->builder->contexts[context];
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
		const struct incarnation *incarnation = s->builder->contexts[i];
		struct profile_process p = {
			.pid = incarnation->pid,
			.start_ns = incarnation->start_ns,
			.comm = incarnation->comm,
			.executable = incarnation->executable,
			.unit = incarnation->unit,
			.uid = incarnation->uid,
		};

		if (profile_add_process(s->profile, &p) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The samples without a call chain at one address. */
static int settle_leaf(struct settling *s, const struct row_count *count)
{
	struct profile_stack stack = {
		.parent = PROFILE_NONE,
		.process = count->context,
		.samples = count->times[ROW_TAKEN],
		.weight = count->cycles,
	};

	return settle_stack(s, &stack, count->from) < 0 ? -ENOMEM : 0;
}

_Static_assert(RUN_BITS + 4 <= 32 && N_BRANCH_KINDS == 16, "a kind is what is above the run");

static int settle_branch(struct settling *s, const struct row_count *count, struct location from,
			 struct location to)
{
	struct profile_branch b = {
		.process = count->context,
		.from = from,
		.to = to,
		.kind = (enum branch_kind)(count->run >> RUN_BITS),
		.taken = count->times[ROW_TAKEN],
		.mispredicted = count->times[ROW_TAKEN_WRONG],
		.predicted = count->times[ROW_TAKEN_RIGHT],
		.aborted = count->times[ROW_TAKEN_ABORTED],
		.cycles = count->cycles,
		.cycles_rows = count->cycles_rows,
	};

	s->profile->counters.rows_counted += count->times[ROW_TAKEN];
	s->profile->counters.cycles += count->cycles;
	return profile_add_branch(s->profile, &b) < 0 ? -ENOMEM : 0;
}

/* A run that two objects or mappings have part in, or none, is not one. */
static int settle_block(struct settling *s, const struct row_count *count, struct location end)
{
	struct profile_counters *c = &s->profile->counters;
	uint32_t run = count->run & RUN_MASK;
	struct location start;
	struct profile_block b;

	if (run == RUN_BACKWARD || run == RUN_LONG) {
		*(run == RUN_LONG ? &c->runs_long : &c->runs_backward) += count->times[ROW_TAKEN];
		return 0;
	}
	if (settle_locate(s, count->context, count->from - (run - 1), &start) < 0)
		return -ENOMEM;
	if (start.object != end.object || start.object == PROFILE_NONE ||
	    end.offset - start.offset != run - 1) {
		c->runs_across += count->times[ROW_TAKEN];
		return 0;
	}
	c->runs_counted += count->times[ROW_TAKEN];
	b = (struct profile_block){
		.process = count->context,
		.object = start.object,
		.start = start.offset,
		.end = end.offset,
		.runs = count->times[ROW_TAKEN],
		.cycles = count->cycles,
		.cycles_rows = count->cycles_rows,
	};
	return profile_add_block(s->profile, &b) < 0 ? -ENOMEM : 0;
}

static int settle_row(const struct row_count *count, void *userdata)
{
	struct settling *s = userdata;
	struct location from, to;

	if (count->to == 0)
		return settle_leaf(s, count);
	if (settle_locate(s, count->context, count->from, &from) < 0 ||
	    settle_locate(s, count->context, count->to, &to) < 0 ||
	    settle_branch(s, count, from, to) < 0)
		return -ENOMEM;
	return (count->run & RUN_MASK) == RUN_NONE ? 0 : settle_block(s, count, from);
}

static int settle_rows(struct settling *s)
{
	struct profile_counters *c = &s->profile->counters;
	struct row_counter *rows = &s->builder->rows;

	row_table_flush(&rows->table);
	c->rows_zero += rows->n_zero;
	c->rows_wrong_path += rows->n_wrong_path;
	c->runs_beside -= rows->n_runs;
	c->rows_limit += rows->table.full_rows;
	c->runs_limit += rows->table.full_runs;
	c->samples_limit += rows->table.full_samples;
	rows->n_zero = rows->n_wrong_path = rows->n_runs = 0;
	return row_table_drain(&rows->table, settle_row, s);
}

/* The trees go first, so that their memory serves for what becomes of the rows, which is most. */
static int settle_all(struct settling *s)
{
	int r;

	r = settle_processes(s);
	if (r >= 0)
		r = settle_stacks(s);
	if (r >= 0)
		r = path_tree_reset(&s->builder->stacks);
	if (r >= 0)
		r = settle_streams(s);
	if (r >= 0)
		r = path_tree_reset(&s->builder->streams);
	if (r >= 0)
		r = settle_rows(s);
	for (size_t i = 0; i < s->n_objects; i++)
		s->objects[i]->index = PROFILE_NONE;
	free(s->objects);
	return r;
}

/* What the tables and trees were not rid of when they were settled; all incarnations let go. */
static void empty(struct builder *b)
{
	b->n_rows = 0;
	b->n_stack_trees++;
	b->stacks_are_full = false;
	builder_forget_contexts(b);
	b->counters = (struct profile_counters){ 0 };
	b->start_ns = b->end_ns = 0;
}

/* What stitching has counted since the last time. */
static void take_seams(struct builder *b, struct profile_counters *c)
{
	const struct stitch_counters *now, before = b->stitched;

	if (!b->stitch)
		return;
	now = stitch_get_counters(b->stitch);
	c->seams_made = now->made - before.made;
	c->seams_unplaced = now->unplaced - before.unplaced;
	c->seams_ambiguous = now->ambiguous - before.ambiguous;
	c->seams_broken = now->broken - before.broken;
	c->tasks_forgotten = now->evicted - before.evicted;
	b->stitched = *now;
}

int builder_settle(struct builder *builder, const struct processes *processes, struct profile **ret)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct settling settling = { .builder = builder, .processes = processes };
	int r;

	r = builder_wait(builder);
	if (r >= 0)
		r = profile_new(&profile);
	if (r < 0)
		return r;
	profile->counters = builder->counters;
	take_seams(builder, &profile->counters);
	profile->info.start_ns = builder->start_ns;
	profile->info.end_ns = builder->end_ns;
	settling.profile = profile;
	r = settle_all(&settling);
	if (r < 0)
		return r;
	empty(builder);
	*ret = TAKE_PTR(profile);
	return 0;
}
