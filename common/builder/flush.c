/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Closing a window: raw addresses become locations in objects, once per distinct record and frame,
 * and the pairs of run and branch become blocks and branches. */
#include "common/builder/flush.h"

#include <errno.h>
#include <stdlib.h>

#include "common/builder/flush-locate.h"
#include "common/builder/flush-paths.h"
#include "common/builder/flush-processes.h"
#include "common/profile/tables.h"
#include "common/util/macro.h"

/* The samples at one address that have no call chain. */
static int flush_leaf(struct flush *f, const struct record_count *count)
{
	struct profile_stack stack = {
		.parent = PROFILE_NONE,
		.samples = count->times[TIMES_TAKEN],
		.weight = count->cycles,
	};

	return flush_paths_add_stack(f, &stack, record_count_context(count), count->from) < 0 ?
		       -ENOMEM :
		       0;
}

static bool is_wanted(const struct flush *f, enum profile_table table)
{
	unsigned int tables = f->builder->settings.tables;

	return tables == 0 || tables & PROFILE_TABLE(table);
}

_Static_assert(RUN_BITS + 4 <= 32 && N_BRANCH_KINDS == 16, "a kind is what is above the run");

static int flush_branch(struct flush *f, const struct record_count *count, struct location from,
			struct location to)
{
	struct profile_branch b = {
		.process = f->builder->processes[record_count_context(count)],
		.from = from,
		.to = to,
		.kind = (enum branch_kind)((uint32_t)count->run >> RUN_BITS),
		.taken = count->times[TIMES_TAKEN],
		.mispredicted = count->times[TIMES_MISPREDICTED],
		.predicted = count->times[TIMES_PREDICTED],
		.aborted = count->times[TIMES_ABORTED],
		.cycles = count->cycles,
		.cycles_rows = count->times[TIMES_TAKEN] - count->untimed,
		.surplus = flush_surplus(f, record_count_context(count), count->times[TIMES_TAKEN]),
	};

	if (f->builder->settings.sum_processes) {
		b.process = PROFILE_NONE;
		return flush_sums_add_branch(&f->branches, f->profile, &b);
	}
	return profile_add_branch(f->profile, &b) < 0 ? -ENOMEM : 0;
}

/* A run that lies in two objects or mappings, or in none, is skipped. */
static int flush_block(struct flush *f, const struct record_count *count, struct location end)
{
	struct profile_counters *c = &f->profile->counters;
	uint32_t run = (uint32_t)count->run & RUN_MASK;
	struct location start;
	struct profile_block b;

	if (run == RUN_BACKWARD || run == RUN_LONG) {
		*(run == RUN_LONG ? &c->runs_long : &c->runs_backward) += count->times[TIMES_TAKEN];
		return 0;
	}
	if (flush_locate(f, record_count_context(count), count->from - (run - 1), &start) < 0)
		return -ENOMEM;
	if (start.object != end.object || start.object == PROFILE_NONE ||
	    end.offset - start.offset != run - 1) {
		c->runs_across += count->times[TIMES_TAKEN];
		return 0;
	}
	c->runs_counted += count->times[TIMES_TAKEN];
	if (!is_wanted(f, PROFILE_BLOCKS))
		return 0;
	b = (struct profile_block){
		.process = f->builder->processes[record_count_context(count)],
		.object = start.object,
		.start = start.offset,
		.end = end.offset,
		.runs = count->times[TIMES_TAKEN],
		.cycles = count->cycles,
		.cycles_rows = count->times[TIMES_TAKEN] - count->untimed,
		.surplus = flush_surplus(f, record_count_context(count), count->times[TIMES_TAKEN]),
	};
	if (f->builder->settings.sum_processes) {
		b.process = PROFILE_NONE;
		return flush_sums_add_block(&f->blocks, f->profile, &b);
	}
	return profile_add_block(f->profile, &b) < 0 ? -ENOMEM : 0;
}

static int flush_row(const struct record_count *count, void *userdata)
{
	struct flush *f = userdata;
	struct location from, to;

	if (count->to == 0)
		return flush_leaf(f, count);
	f->profile->counters.rows_counted += count->times[TIMES_TAKEN];
	f->profile->counters.cycles += count->cycles;
	if (flush_locate(f, record_count_context(count), count->from, &from) < 0)
		return -ENOMEM;
	if (is_wanted(f, PROFILE_BRANCHES) &&
	    (flush_locate(f, record_count_context(count), count->to, &to) < 0 ||
	     flush_branch(f, count, from, to) < 0))
		return -ENOMEM;
	return (count->run & RUN_MASK) == RUN_NONE ? 0 : flush_block(f, count, from);
}

static int flush_ticks(struct flush *f)
{
	struct builder *b = f->builder;

	for (size_t i = 0; i < b->n_ticks; i++) {
		struct profile_stack stack = {
			.parent = PROFILE_NONE,
			.ticks = b->ticks[i].n,
			.weight = b->ticks[i].weight,
			.surplus = b->ticks[i].surplus,
		};

		if (flush_paths_add_stack(f, &stack, b->ticks[i].context, b->ticks[i].ip) < 0)
			return -ENOMEM;
		f->profile->counters.samples_ticked += stack.ticks;
	}
	b->n_ticks = 0;
	return 0;
}

static int flush_rows(struct flush *f)
{
	struct profile_counters *c = &f->profile->counters;
	struct branch_counter *rows = &f->builder->rows;
	int r;

	branch_table_flush(&rows->table);
	c->rows_zero += rows->n_zero;
	c->rows_wrong_path += rows->n_wrong_path;
	c->runs_skipped_rows -= rows->n_runs;
	c->rows_limit += rows->table.full_rows;
	c->runs_limit += rows->table.full_runs;
	c->samples_limit += rows->table.full_samples;
	rows->n_zero = rows->n_wrong_path = rows->n_runs = 0;
	r = branch_table_drain(&rows->table, flush_row, f);
	if (r >= 0)
		r = flush_sums_end(&f->branches, f->profile);
	return r < 0 ? r : flush_sums_end(&f->blocks, f->profile);
}

static int flush_stacks(struct flush *f)
{
	int r = flush_processes(f);

	if (r >= 0)
		r = flush_paths_stacks(f);
	if (r >= 0)
		r = path_tree_reset(&f->builder->stacks);
	return r < 0 ? r : flush_ticks(f);
}

/* The streams come first, so that their memory is free for the branches and blocks. */
static int flush_records(struct flush *f)
{
	int r = flush_paths_streams(f);

	if (r >= 0)
		r = path_tree_reset(&f->builder->streams);
	if (r >= 0)
		r = flush_rows(f);
	if (f->builder->settings.tables != 0)
		profile_drop_tables(f->profile, ~f->builder->settings.tables);
	return r;
}

/* What stitching has counted since the last flush. */
static void add_stitch_counters(struct builder *b, struct profile_counters *c)
{
	const struct stitch_counters *now, before = b->stitched;

	if (!b->stitch)
		return;
	now = stitch_get_counters(b->stitch);
	c->stacks_stitched += now->stitched - before.stitched;
	c->stacks_unaligned += now->unaligned - before.unaligned;
	c->stacks_ambiguous += now->ambiguous - before.ambiguous;
	c->stacks_inconsistent += now->inconsistent - before.inconsistent;
	c->tasks_evicted += now->evicted - before.evicted;
	b->stitched = *now;
}

static int add_info(const struct builder *b)
{
	const struct profile_info info = { .start_ns = b->start_ns, .end_ns = b->end_ns };

	return profile_add_info(b->flushed, &info, false);
}

static int begin(struct flush *f)
{
	struct builder *b = f->builder;
	int r = b->flushed ? 0 : profile_new(&b->flushed);

	if (r >= 0)
		r = add_info(b);
	if (r < 0)
		return r;
	f->profile = b->flushed;
	profile_add_counters(&b->flushed->counters, &b->counters);
	add_stitch_counters(b, &b->flushed->counters);
	b->counters = (struct profile_counters){ 0 };
	b->start_ns = b->end_ns = 0;
	return 0;
}

static int flush(struct flush *f, bool only_stacks)
{
	struct builder *b = f->builder;
	int r = begin(f);

	if (r >= 0)
		r = flush_stacks(f);
	b->n_stack_trees++;
	b->stacks_are_full = false;
	if (r < 0 || only_stacks)
		return r;
	r = flush_records(f);
	b->n_rows = 0;
	builder_state_forget_contexts(b);
	return r;
}

int flush_builder(struct builder *builder, const struct processes *processes, bool only_stacks)
{
	struct flush f = {
		.builder = builder,
		.processes = processes,
		.stacks.table = PROFILE_STACKS,
		.branches.table = PROFILE_BRANCHES,
		.blocks.table = PROFILE_BLOCKS,
	};
	int r;

	r = builder_state_wait(builder);
	if (r >= 0)
		r = flush(&f, only_stacks);
	flush_sums_done(&f.stacks);
	flush_sums_done(&f.branches);
	flush_sums_done(&f.blocks);
	return r;
}
