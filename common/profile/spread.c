/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts are integers. So that sums are exact, the rows of a group get what the running sum grows
 * by, in the order of the table: none is off by a sample or more.
 */
#include "common/profile/spread.h"

#include <errno.h>
#include <stdlib.h>

#include "common/profile/drop-empty.h"
#include "common/profile/scale.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* A leaf that was sampled, and the group in which it stands for others. */
struct leaf {
	uint32_t stack, process;
	uint32_t function; /* of the object, or PROFILE_NONE */
	uint32_t object;
};

/* Of a process: samples, and what those of them that were captured count. */
struct captured {
	uint64_t samples, captured;
};

/* @part of @whole, of which there are @n now; rounded to the nearest. */
static uint64_t share_of(uint64_t n, uint64_t part, uint64_t whole)
{
	return (uint64_t)(((unsigned __int128)n * part + whole / 2) / (whole ?: 1));
}

/* What is @sum of @whole is as large a part of @n: the difference to *@before, which is set to it.
 */
static uint64_t grow(uint64_t n, uint64_t sum, uint64_t whole, uint64_t *before)
{
	uint64_t now = share_of(n, sum, whole), more = now - *before;

	*before = now;
	return more;
}

static int compare_leaves(const void *x, const void *y)
{
	const struct leaf *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(a->process, b->process));
	RETURN_UNLESS_EQUAL(COMPARE(a->object, b->object));
	RETURN_UNLESS_EQUAL(COMPARE(a->function, b->function));
	return COMPARE(a->stack, b->stack);
}

static bool same_group(const struct leaf *a, const struct leaf *b)
{
	return a->process == b->process && a->object == b->object && a->function == b->function;
}

static int find_leaves(const struct profile *p, struct leaf **ret, size_t *ret_n)
{
	struct leaf *leaves;
	size_t n = 0;

	if (ARRAY_ALLOCATE(&leaves, p->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];
		const struct profile_function *f;

		if (stack->samples + stack->ticks + stack->surplus == 0)
			continue;
		f = profile_find_function(p, stack->frame);
		leaves[n++] = (struct leaf){
			.stack = (uint32_t)i,
			.process = stack->process,
			.function = f ? (uint32_t)(f - p->functions) : PROFILE_NONE,
			.object = stack->frame.object,
		};
	}
	if (n > 0)
		qsort(leaves, n, sizeof(*leaves), compare_leaves);
	*ret = leaves;
	*ret_n = n;
	return 0;
}

static void scale_stack(struct profile_stack *row, uint64_t samples)
{
	row->stitched = share_of(row->stitched, samples, row->samples);
	row->pruned = share_of(row->pruned, samples, row->samples);
	row->samples = samples;
}

/* Samples of a group that were captured, with the sums of what they count, and of its squares. */
struct weights {
	uint64_t sum, squares;
};

/* Spreads the ticks of a group over its captured samples. Returns the number of its samples. */
static uint64_t spread_group(struct profile *p, const struct leaf *leaves, size_t n,
			     struct weights *ret)
{
	uint64_t samples = 0, weight = 0, surplus = 0, sum = 0, before = 0, weighed = 0;

	*ret = (struct weights){ 0 };
	for (size_t i = 0; i < n; i++) {
		const struct profile_stack *row = &p->stacks[leaves[i].stack];

		ret->sum += row->samples;
		surplus += row->surplus;
		samples += row->samples + row->ticks;
		weight += row->weight;
	}
	samples -= surplus;
	ret->squares = ret->sum + surplus * SPREAD_COLD_WEIGHT; /* w² = w + (w - 1) w */
	for (size_t i = 0; i < n && (ret->sum != samples || surplus > 0); i++) {
		struct profile_stack *row = &p->stacks[leaves[i].stack];

		if (ret->sum == 0) {
			row->samples = row->ticks;
		} else if (row->samples == 0) {
			row->weight = 0;
		} else {
			sum += row->samples;
			scale_stack(row, grow(samples, sum, ret->sum, &before));
			row->weight = grow(weight, sum, ret->sum, &weighed);
		}
		row->ticks = row->surplus = 0;
	}
	return samples;
}

/*
 * What estimating adds to the variance of the samples of stacks of a group: as if those captured
 * were (sum of w)² / (sum of w²), Kish's effective number, of one weight.
 */
static double variance_of(uint64_t samples, const struct weights *captured)
{
	double n = (double)samples, sum = (double)captured->sum;

	return MAX(n * (n * (double)captured->squares / (sum * sum) - 1), 0.0);
}

/* Of groups alike: what estimating adds to the variance of their samples. */
struct estimated {
	double variance, samples;
};

static double excess_of(const struct estimated *groups)
{
	return groups->samples > 0 ? groups->variance / groups->samples : 0;
}

/*
 * One figure is stated for all stacks and branches: where some functions were captured more rarely,
 * it is theirs, so that no interval is too narrow; those of the others are wider than need be.
 */
static double spread_stacks(struct profile *p, const struct leaf *leaves, size_t n_leaves,
			    struct captured *processes)
{
	struct estimated groups[2] = { 0 };

	for (size_t i = 0, n; i < n_leaves; i += n) {
		struct captured *process = &processes[leaves[i].process];
		struct estimated *alike;
		struct weights captured;
		uint64_t samples;

		for (n = 1; i + n < n_leaves && same_group(&leaves[i], &leaves[i + n]);)
			n++;
		samples = spread_group(p, &leaves[i], n, &captured);
		process->samples += samples;
		process->captured += captured.sum;
		if (captured.sum == 0)
			continue;
		alike = &groups[captured.squares > captured.sum];
		alike->variance += variance_of(samples, &captured);
		alike->samples += (double)samples;
	}
	return MAX(excess_of(&groups[0]), excess_of(&groups[1])) *
	       (groups[0].samples + groups[1].samples);
}

static void scale_branch(struct profile_branch *row, uint64_t taken)
{
	uint64_t before = row->taken;

	row->mispredicted = share_of(row->mispredicted, taken, before);
	row->predicted = MIN(share_of(row->predicted, taken, before), taken - row->mispredicted);
	row->aborted = share_of(row->aborted, taken, before);
	row->cycles = share_of(row->cycles, taken, before);
	row->cycles_rows = share_of(row->cycles_rows, taken, before);
	row->taken = taken;
}

static void scale_block(struct profile_block *row, uint64_t runs)
{
	row->cycles = share_of(row->cycles, runs, row->runs);
	row->cycles_rows = share_of(row->cycles_rows, runs, row->runs);
	row->runs = runs;
}

/* Sums of one process, before and after, so far. */
struct running {
	uint64_t sum, before;
};

static uint64_t spread_row(const struct captured *process, struct running *running, uint64_t n)
{
	if (process->captured == 0)
		return n;
	running->sum += n;
	return grow(process->samples, running->sum, process->captured, &running->before);
}

static int spread_records(struct profile *p, const struct captured *processes)
{
	_cleanup_free_ struct running *branches = NULL, *blocks = NULL, *streams = NULL;
	struct profile_counters *c = &p->counters;

	if (ARRAY_ALLOCATE_ZEROED(&branches, p->n_processes) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&blocks, p->n_processes) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&streams, p->n_processes) < 0)
		return -ENOMEM;
	c->rows_counted = c->runs_counted = c->streams = c->cycles = 0;
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch *row = &p->branches[i];

		scale_branch(row, spread_row(&processes[row->process], &branches[row->process],
					     row->taken));
		c->rows_counted += row->taken;
		c->cycles += row->cycles;
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *row = &p->blocks[i];

		scale_block(row,
			    spread_row(&processes[row->process], &blocks[row->process], row->runs));
		c->runs_counted += row->runs;
	}
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct captured *process = &processes[p->streams[i].process];
		struct profile_stream *row = &p->streams[i];
		uint64_t hits = spread_row(process, &streams[row->process], row->hits);

		c->streams += hits;
		if (process->captured == 0)
			continue;
		row->pruned = MIN(share_of(row->pruned, process->samples, process->captured), hits);
		row->cycles = share_of(row->cycles, process->samples, process->captured);
		row->hits = hits;
	}
	return 0;
}

/* Those of captured samples, and what came with them: not the samples themselves, nor losses. */
static bool is_of_captured(size_t offset)
{
	static const size_t others[] = {
		offsetof(struct profile_counters, samples),
		offsetof(struct profile_counters, samples_estimated),
		offsetof(struct profile_counters, samples_variance),
		offsetof(struct profile_counters, samples_ticked),
		offsetof(struct profile_counters, stacks_variance),
		offsetof(struct profile_counters, samples_other_event),
		offsetof(struct profile_counters, samples_guest),
		offsetof(struct profile_counters, samples_limit),
		offsetof(struct profile_counters, unmapped),
		offsetof(struct profile_counters, weight),
		offsetof(struct profile_counters, tasks_evicted),
		offsetof(struct profile_counters, lost_samples),
		offsetof(struct profile_counters, lost_records),
		offsetof(struct profile_counters, skipped),
		offsetof(struct profile_counters, throttled),
		offsetof(struct profile_counters, records_unknown),
		offsetof(struct profile_counters, out_of_order),
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i] == offset)
			return false;
	return true;
}

static void scale_counters(struct profile_counters *c, const struct captured *all)
{
#define X(name, what)                                                \
	if (is_of_captured(offsetof(struct profile_counters, name))) \
		c->name = share_of(c->name, all->samples, all->captured);
	PROFILE_COUNTERS(X)
#undef X
}

/* What was rounded apart adds up again. */
static void balance_counters(struct profile_counters *c)
{
	c->rows = c->rows_counted + c->rows_skipped_samples + c->rows_zero + c->rows_wrong_path +
		  c->rows_duplicate + c->rows_call_stack + c->rows_limit;
	c->runs = c->runs_counted + c->runs_skipped_samples + c->runs_skipped_rows +
		  c->runs_filtered + c->runs_call_stack + c->runs_backward + c->runs_across +
		  c->runs_long + c->runs_limit;
}

static bool has_surplus(const struct profile *p)
{
	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].surplus > 0)
			return true;
	return false;
}

int profile_spread_ticks(struct profile *profile)
{
	_cleanup_free_ struct captured *processes = NULL;
	_cleanup_free_ struct leaf *leaves = NULL;
	struct profile_counters *c = &profile->counters;
	struct captured all = { 0 };
	size_t n;
	int r;

	if (c->samples_ticked == 0 && !has_surplus(profile))
		return 0;
	r = find_leaves(profile, &leaves, &n);
	if (r < 0 || ARRAY_ALLOCATE_ZEROED(&processes, profile->n_processes) < 0)
		return -ENOMEM;
	c->stacks_variance +=
		(uint64_t)(spread_stacks(profile, leaves, n, processes) * profile_sample_unit(c));
	for (size_t i = 0; i < profile->n_processes; i++) {
		all.samples += processes[i].samples;
		all.captured += processes[i].captured;
	}
	if (all.captured > 0)
		scale_counters(c, &all);
	r = spread_records(profile, processes);
	balance_counters(c);
	if (r >= 0)
		r = profile_drop_empty(profile);
	return r < 0 ? r : profile_finalize(profile);
}
