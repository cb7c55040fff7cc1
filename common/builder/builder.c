/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/builder.h"

#include <errno.h>
#include <stdlib.h>

#include "common/builder/builder-state.h"
#include "common/builder/count-stack.h"
#include "common/builder/flush.h"
#include "common/builder/unwinder.h"
#include "common/profile/spread.h"
#include "common/util/array.h"

#define MAX_ROWS    (256u * 1024)
#define MAX_FRAMES  (256u * 1024)
#define MAX_STREAMS (64u * 1024)
#define MANY_ROWS   (256u * 1024) /* of a profile; from then on equal ones are added up */
#define MAX_TICKS   (128u * 1024) /* addresses; more, and the window is flushed early */

/* The address spaces of the sampled process contexts may hold this many mappings, 10 MiB. More, and
 * the window is flushed early. */
#define MAX_MAPPINGS (256u * 1024)

/* Each record is in one stream at most, and counted once. */
#define MAX_ROWS_ADDED PATH_TREE_MAX_PATHS

_Static_assert(MAX_ROWS_ADDED <= BRANCH_TABLE_MAX_TIMES, "no count overflows");

static size_t max_rows(const struct builder *b)
{
	return b->settings.max_rows ? b->settings.max_rows : MAX_ROWS;
}

int builder_new(struct builder **ret, const struct builder_settings *settings)
{
	_cleanup_(builder_freep) struct builder *b =
		aligned_alloc(_Alignof(struct builder), sizeof(*b));
	size_t slack = 0;
	int r;

	if (!b)
		return -ENOMEM;
	*b = (struct builder){ .settings = *settings };
	/* Without the thread it works as well, but slower. */
	if (settings->rows_ahead > 0 &&
	    branch_thread_new(&b->thread, &b->rows, settings->rows_ahead) >= 0)
		slack = MAX(settings->rows_ahead, (size_t)BRANCH_THREAD_MIN_ROWS);
	r = branch_counter_init(&b->rows, max_rows(b) + slack);
	if (r < 0)
		return r;
	r = path_tree_init(&b->stacks,
			   (settings->max_frames ? settings->max_frames : MAX_FRAMES) + 1);
	if (r >= 0)
		r = path_tree_init(&b->streams,
				   settings->max_streams ? settings->max_streams : MAX_STREAMS);
	if (r < 0)
		return r;
	if (!settings->no_stitch)
		r = stitch_new(&b->stitch, &settings->stitch);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(b);
	return 0;
}

struct builder *builder_free(struct builder *builder)
{
	if (!builder)
		return NULL;
	builder_state_forget_contexts(builder);
	builder_state_forget_objects(builder);
	free(builder->objects);
	free(builder->processes);
	profile_free(builder->flushed);
	free(builder->contexts);
	free(builder->ticks);
	branch_thread_free(builder->thread);
	branch_counter_done(&builder->rows);
	path_tree_done(&builder->stacks);
	path_tree_done(&builder->streams);
	stitch_free(builder->stitch);
	stack_done(&builder->stack);
	free(builder);
	return NULL;
}

/* The number of the process context in this window; its first sample gives it one. */
static int get_context(struct builder *b, struct process_context *process_context, uint32_t *ret)
{
	if (_unlikely_(process_context->context == PROFILE_NONE)) {
		if (ARRAY_RESERVE(&b->contexts, &b->cap_contexts, b->n_contexts + 1) < 0)
			return -ENOMEM;
		b->contexts[b->n_contexts] = process_context_ref(process_context);
		b->n_mappings += process_context->space->n_mappings;
		process_context->context = (uint32_t)b->n_contexts++;
	}
	*ret = process_context->context;
	return 0;
}

/* The same for the records of cold samples: they are counted apart, and added up by
 * profile_finalize().
 */
static int get_cold_context(struct builder *b, struct process_context *process_context,
			    uint32_t *ret)
{
	if (process_context->cold_context == PROFILE_NONE) {
		if (ARRAY_RESERVE(&b->contexts, &b->cap_contexts, b->n_contexts + 1) < 0)
			return -ENOMEM;
		b->contexts[b->n_contexts] = process_context_ref(process_context);
		process_context->cold_context = (uint32_t)b->n_contexts++;
	}
	*ret = process_context->cold_context;
	return 0;
}

static bool same_branch(const struct branch_record *a, const struct branch_record *b)
{
	return a->from == b->from && a->to == b->to;
}

/*
 * Skylake and its successors often report the last branch before the sample twice, with different
 * cycles (llvm-bolt drops the duplicate as well: DataAggregator, NeedsSkylakeFix). Three equal
 * records are ambiguous, as a tight loop makes those. On other hardware two equal records are
 * valid.
 */
static bool is_duplicate(const struct builder *b, const struct branch_record *rows, size_t n)
{
	return n == b->settings.duplicate_depth && n > 2 && rows[0].from != 0 && rows[0].to != 0 &&
	       same_branch(&rows[0], &rows[1]) && !same_branch(&rows[0], &rows[2]);
}

/* Counts the records of the snapshot as it was taken, including those that its writer left out. */
static void count_all_rows(struct profile_counters *c, const struct sample *s)
{
	size_t n = s->n_rows + s->n_zero + s->n_wrong_path;
	size_t n_runs = n > 0 ? n - 1 : 0;

	c->rows += n;
	c->rows_zero += s->n_zero;
	c->rows_wrong_path += s->n_wrong_path;
	c->runs += n_runs;
	if (s->gaps)
		c->runs_filtered += n_runs;
	else
		c->runs_skipped_rows +=
			n_runs; /* until they turn out to lie between valid records */
}

/* Adds the records of a sample that is skipped to @rows, and its runs to @runs. */
static void skip_records(struct profile_counters *c, const struct sample *s, uint64_t *rows,
			 uint64_t *runs)
{
	uint64_t n_runs = s->n_rows > 0 ? s->n_rows - 1 : 0;

	c->rows += s->n_rows;
	c->runs += n_runs;
	*rows += s->n_rows;
	*runs += n_runs;
}

static int count_stream(struct builder *b, const struct counted_snapshot *snapshot)
{
	int r = stream_queue_put(&b->queue, &b->streams, snapshot);

	b->counters.streams_invalid += r == 0;
	return r;
}

/* Records that do not stay in memory are counted at once. */
static int count_snapshot(struct builder *b, const struct counted_snapshot *snapshot, bool stays)
{
	uint64_t n_rows = counted_snapshot_n_rows(snapshot);
	int r, k;

	if (n_rows == 0)
		return 0;
	b->n_rows += n_rows;
	if (snapshot->n_rows > 0 && count_stream(b, snapshot) < 0)
		return -ENOMEM;
	if (b->thread && stays)
		return branch_thread_add(b->thread, snapshot);
	r = b->thread ? branch_thread_count(b->thread, snapshot) :
			branch_counter_add(&b->rows, snapshot);
	k = stream_queue_flush(&b->queue, &b->streams);
	return r < 0 ? r : k;
}

/* Counts the records of the sample, and its address where it has no call chain. */
static int count_rows(struct builder *b, uint32_t context, const struct sample *s, bool has_leaf)
{
	struct counted_snapshot snapshot = {
		.rows = s->rows,
		.n_rows = s->n_rows,
		.context = context,
		.gaps = s->gaps,
		.has_leaf = has_leaf,
		.leaf = s->ip,
		.weight = s->period,
	};

	if (s->call_stack) {
		skip_records(&b->counters, s, &b->counters.rows_call_stack,
			     &b->counters.runs_call_stack);
		snapshot.n_rows = 0;
	} else {
		count_all_rows(&b->counters, s);
	}
	if (is_duplicate(b, s->rows, snapshot.n_rows)) {
		b->counters.rows_duplicate++;
		snapshot.rows++;
		snapshot.n_rows--;
	}
	return count_snapshot(b, &snapshot, s->rows_stay);
}

static void note_time(struct builder *b, uint64_t time_ns)
{
	if (time_ns == 0)
		return;
	b->start_ns = b->start_ns == 0 ? time_ns : MIN(b->start_ns, time_ns);
	b->end_ns = MAX(b->end_ns, time_ns);
}

/* Whether @n more records may be more than the table holds. There is extra room for all records
 * that wait for the thread: it is waited for only when that is used up. */
static bool rows_are_full(struct builder *b, size_t n)
{
	const struct branch_table *table = &b->rows.table;

	n += 3 * RECORD_BATCH;
	if (b->thread && branch_thread_most_counts(b->thread) + n <= table->max_counts)
		return false;
	if (b->thread && branch_thread_wait(b->thread) < 0)
		return true; /* flushing reports the error */
	return table->n_counts + n > MIN(max_rows(b), table->max_counts);
}

/* The same for the nodes of the current stack. Those that wait are counted only near the end. */
static bool stacks_are_full(struct builder *b)
{
	if (count_stack_may_wait(b))
		return false;
	if (stack_queue_flush(&b->stack_queue, &b->stacks) < 0)
		return true; /* flushing reports the error */
	return b->stacks.n_nodes + count_stack_depth(b) > b->stacks.limit;
}

/* Before sample @s is counted; its stack is known. */
static bool must_flush(struct builder *b, const struct sample *s)
{
	if (b->n_mappings > MAX_MAPPINGS || b->n_rows >= MAX_ROWS_ADDED - s->n_rows ||
	    b->stacks.n_paths == PATH_TREE_MAX_PATHS)
		return true;
	return b->settings.unbounded && (rows_are_full(b, s->n_rows) || stacks_are_full(b));
}

/* Adds up the rows with one key, as each flush of all makes them of branches and blocks, when the
 * rows have become twice as many. */
static int shrink_flushed(struct builder *b)
{
	struct profile_maps maps = { 0 };
	int r;

	if (profile_n_rows(b->flushed) < MAX(2 * b->n_finalized, (size_t)MANY_ROWS))
		return 0;
	r = profile_finalize_maps(b->flushed, &maps);
	if (r < 0)
		return r;
	builder_state_map_objects(b, maps.objects);
	profile_maps_done(&maps);
	b->flushed->finalized = false; /* there is more to come */
	b->n_finalized = profile_n_rows(b->flushed);
	return 0;
}

/* What the profile has already, the tree may have less. */
static void set_limit(struct builder *b)
{
	struct path_tree *stacks = &b->stacks;

	if (!b->settings.unbounded)
		stacks->limit =
			stacks->max_nodes - MIN(b->flushed->n_stacks, stacks->max_nodes / 4 * 3);
}

static int flush_all(struct builder *b, const struct processes *processes)
{
	int r = flush_builder(b, processes, false);

	if (r < 0)
		return r;
	/* Whose context was released may have samples still to come. */
	b->flushed_until_ns = MAX(b->flushed_until_ns, b->flushed->info.end_ns);
	r = shrink_flushed(b);
	if (r >= 0)
		set_limit(b);
	return r;
}

static int flush_stacks(struct builder *b, const struct processes *processes)
{
	int r = flush_builder(b, processes, true);

	if (r >= 0)
		set_limit(b);
	return r;
}

void builder_keep_processes(struct builder *builder, bool keep)
{
	builder->keeps_processes = keep;
}

bool builder_is_filling(const struct builder *builder)
{
	const struct path_tree *stacks = &builder->stacks;
	size_t n_flushed = builder->flushed ? builder->flushed->n_stacks : 0;

	return builder->n_ticks >= MAX_TICKS / 2 ||
	       (stacks->n_nodes >= stacks->limit / 2 && n_flushed < stacks->max_nodes / 4 * 3);
}

int builder_flush(struct builder *builder, const struct processes *processes, uint64_t until_ns)
{
	int r = flush_stacks(builder, processes);

	builder_set_flushed(builder, until_ns);
	return r;
}

void builder_set_flushed(struct builder *builder, uint64_t until_ns)
{
	builder->flushed_until_ns = until_ns;
}

int builder_close(struct builder *builder, const struct processes *processes, struct profile **ret)
{
	int r = flush_builder(builder, processes, false);

	if (r < 0)
		return r;
	builder_state_forget_objects(builder);
	builder->n_finalized = 0;
	builder->stacks.limit = builder->stacks.max_nodes;
	*ret = TAKE_PTR(builder->flushed);
	return 0;
}

static int unwind_stack(struct builder *b, const struct processes *processes,
			const struct process_context *process_context, const struct sample *s)
{
	struct profile_counters *c = &b->counters;
	uint64_t *const ends[] = {
		[UNWIND_COMPLETE] = &c->stacks_complete, [UNWIND_NO_TABLE] = &c->stacks_no_table,
		[UNWIND_STACK] = &c->stacks_copy_end,    [UNWIND_NO_RETURN] = &c->stacks_no_return,
		[UNWIND_FRAME] = &c->stacks_bad_frame,   [UNWIND_DEPTH] = &c->stacks_depth_limit,
	};
	struct unwind_result result;
	int r;

	if (_likely_(!b->settings.unwinder))
		return 0;
	c->stacks_32_bit += s->user_is_32_bit;
	r = unwinder_add(b->settings.unwinder, processes, process_context, s, &b->stack, &result);
	if (r <= 0)
		return r;
	c->stacks_unwound++;
	c->stacks_by_pointer += result.n_by_fp > 0;
	(*ends[result.end])++;
	return 0;
}

/* A tick, or how much captured samples at its address count beyond those that were taken. */
static int add_ticks(struct builder *b, const struct processes *processes,
		     struct process_context *process_context, struct context_ticks ticks)
{
	if (b->n_ticks == MAX_TICKS && flush_stacks(b, processes) < 0)
		return -ENOMEM;
	if (get_context(b, process_context, &ticks.context) < 0 ||
	    ARRAY_RESERVE(&b->ticks, &b->cap_ticks, b->n_ticks + 1) < 0)
		return -ENOMEM;
	b->ticks[b->n_ticks++] = ticks;
	return 0;
}

/* Counts a sample whose stack is known, the first time or once more. 0; 1 if it counts without
 * callers, then the first time alone; -ENOMEM. */
static int count_once(struct builder *b, const struct processes *processes,
		      struct process_context *process_context, const struct event *e, bool first)
{
	const struct sample *s = &e->sample;
	uint32_t context;
	int has_leaf, r;

	if (_unlikely_(must_flush(b, s)) && flush_all(b, processes) < 0)
		return -ENOMEM;
	if (get_context(b, process_context, &context) < 0)
		return -ENOMEM;
	note_time(b, e->time_ns);
	b->counters.snapshots_empty += s->has_rows && s->n_rows == 0;
	b->counters.samples_call_stack += s->call_stack;
	has_leaf = count_stack(b, context, s, first);
	if (_unlikely_(s->cold) && get_cold_context(b, process_context, &context) < 0)
		return -ENOMEM;
	r = has_leaf < 0 ? has_leaf : count_rows(b, context, s, has_leaf && first);
	return r < 0 ? r : has_leaf;
}

/* One of a cold function counts several times, as the samples of others were as often captured. */
static int count_sample(struct builder *b, const struct processes *processes,
			struct process_context *process_context, const struct event *e)
{
	struct context_ticks more = { 0 };
	int r;

	if (!process_context || stack_fill_above(&b->stack, b->stitch, e, &b->callers) < 0)
		return -ENOMEM;
	if (unwind_stack(b, processes, process_context, &e->sample) < 0)
		return -ENOMEM;
	r = count_once(b, processes, process_context, e, true);
	if (_likely_(!e->sample.cold) || r < 0)
		return MIN(r, 0);
	for (uint32_t i = 1; i < SPREAD_COLD_WEIGHT && r >= 0; i++) {
		r = count_once(b, processes, process_context, e, false);
		more.surplus += r == 0;
	}
	if (r < 0 || more.surplus == 0)
		return MIN(r, 0);
	more.ip = count_stack_leaf(b);
	return add_ticks(b, processes, process_context, more);
}

static void skip_sample(struct builder *b, const struct sample *s, uint64_t *reason)
{
	(*reason)++;
	skip_records(&b->counters, s, &b->counters.rows_skipped_samples,
		     &b->counters.runs_skipped_samples);
}

int builder_add_of(struct builder *builder, const struct processes *processes,
		   struct process_context *process_context, const struct event *event)
{
	struct profile_counters *c = &builder->counters;

	if (event->source != builder->settings.source) {
		skip_sample(builder, &event->sample, &c->samples_other_event);
		return 0;
	}
	if (event->sample.mode >= CPU_MODE_HYPERVISOR) {
		skip_sample(builder, &event->sample, &c->samples_guest);
		return 0;
	}
	return count_sample(builder, processes, process_context, event);
}

int builder_add(struct builder *builder, struct processes *processes, const struct event *event)
{
	struct profile_counters *c = &builder->counters;

	switch (event->kind) {
	case EVENT_SAMPLE:
		return builder_add_of(builder, processes, processes_find(processes, event->pid),
				      event);
	case EVENT_LOST:
		builder_observe(builder, event);
		*(event->lost.samples ? &c->lost_samples : &c->lost_records) += event->lost.n;
		return 0;
	case EVENT_THROTTLE:
		c->throttled++;
		return 0;
	default:
		return 0;
	}
}

int builder_add_ticks(struct builder *builder, const struct processes *processes,
		      struct process_context *process_context, const struct builder_ticks *ticks)
{
	const struct context_ticks these = { .ip = ticks->ip,
					     .n = ticks->n,
					     .weight = ticks->weight };

	return add_ticks(builder, processes, process_context, these);
}

void builder_observe(struct builder *builder, const struct event *event)
{
	if (builder->stitch)
		stitch_apply(builder->stitch, event);
}
