/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Closing a window: raw addresses become places in objects, once per distinct row and frame, and
 * the pairs of run and branch come apart into blocks and branches.
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

int flush_locate(struct settling *s, uint32_t context, uint64_t address, struct location *ret)
{
	const struct process_context *i = s->builder->contexts[context];
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

static int flush_processes(struct settling *s)
{
	for (size_t i = 0; i < s->builder->n_contexts; i++) {
		const struct process_context *process_context = s->builder->contexts[i];
		struct profile_process p = {
			.pid = process_context->pid,
			.start_ns = process_context->start_ns,
			.comm = process_context->comm,
			.executable = process_context->executable,
			.unit = process_context->unit,
			.uid = process_context->uid,
		};

		if (profile_add_process(s->profile, &p) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The samples without a call chain at one address. */
static int flush_leaf(struct settling *s, const struct row_count *count)
{
	struct profile_stack stack = {
		.parent = PROFILE_NONE,
		.process = count->context,
		.samples = count->times[ROW_TAKEN],
		.weight = count->cycles,
	};

	return flush_stack(s, &stack, count->from) < 0 ? -ENOMEM : 0;
}

_Static_assert(RUN_BITS + 4 <= 32 && N_BRANCH_KINDS == 16, "a kind is what is above the run");

static int flush_branch(struct settling *s, const struct row_count *count, struct location from,
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
static int flush_block(struct settling *s, const struct row_count *count, struct location end)
{
	struct profile_counters *c = &s->profile->counters;
	uint32_t run = count->run & RUN_MASK;
	struct location start;
	struct profile_block b;

	if (run == RUN_BACKWARD || run == RUN_LONG) {
		*(run == RUN_LONG ? &c->runs_long : &c->runs_backward) += count->times[ROW_TAKEN];
		return 0;
	}
	if (flush_locate(s, count->context, count->from - (run - 1), &start) < 0)
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

static int flush_row(const struct row_count *count, void *userdata)
{
	struct settling *s = userdata;
	struct location from, to;

	if (count->to == 0)
		return flush_leaf(s, count);
	if (flush_locate(s, count->context, count->from, &from) < 0 ||
	    flush_locate(s, count->context, count->to, &to) < 0 ||
	    flush_branch(s, count, from, to) < 0)
		return -ENOMEM;
	return (count->run & RUN_MASK) == RUN_NONE ? 0 : flush_block(s, count, from);
}

static int flush_rows(struct settling *s)
{
	struct profile_counters *c = &s->profile->counters;
	struct branch_counter *rows = &s->builder->rows;

	branch_table_flush(&rows->table);
	c->rows_zero += rows->n_zero;
	c->rows_wrong_path += rows->n_wrong_path;
	c->runs_skipped_rows -= rows->n_runs;
	c->rows_limit += rows->table.full_rows;
	c->runs_limit += rows->table.full_runs;
	c->samples_limit += rows->table.full_samples;
	rows->n_zero = rows->n_wrong_path = rows->n_runs = 0;
	return branch_table_drain(&rows->table, flush_row, s);
}

/* The trees go first, so that their memory serves for what becomes of the rows, which is most. */
static int flush_all(struct settling *s)
{
	int r;

	r = flush_processes(s);
	if (r >= 0)
		r = flush_stacks(s);
	if (r >= 0)
		r = path_tree_reset(&s->builder->stacks);
	if (r >= 0)
		r = flush_streams(s);
	if (r >= 0)
		r = path_tree_reset(&s->builder->streams);
	if (r >= 0)
		r = flush_rows(s);
	for (size_t i = 0; i < s->n_objects; i++)
		s->objects[i]->index = PROFILE_NONE;
	free(s->objects);
	return r;
}

/* What the tables and trees were not rid of when they were settled; all process_contexts let go. */
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
	c->stacks_stitched = now->made - before.made;
	c->stacks_unaligned = now->unplaced - before.unplaced;
	c->stacks_ambiguous = now->ambiguous - before.ambiguous;
	c->stacks_inconsistent = now->broken - before.broken;
	c->tasks_evicted = now->evicted - before.evicted;
	b->stitched = *now;
}

int builder_flush(struct builder *builder, const struct processes *processes, struct profile **ret)
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
	r = flush_all(&settling);
	if (r < 0)
		return r;
	empty(builder);
	*ret = TAKE_PTR(profile);
	return 0;
}
