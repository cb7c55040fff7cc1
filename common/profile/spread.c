/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts are integers. So that sums are exact, the rows of a group get what the running sum grows
 * by, in the order of the table: none is off by a sample or more.
 */
#include "common/profile/spread.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/profile/drop-empty.h"
#include "common/profile/scale.h"
#include "common/profile/spread-callers.h"
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

/* Captured rows with the sum of what they count, and of its squares. */
struct weights {
	uint64_t sum, squares;
};

/* w² = w + (w - 1) w */
static uint64_t squares_of(uint64_t sum, uint64_t surplus)
{
	return sum + surplus * SPREAD_COLD_WEIGHT;
}

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

/*
 * By how much the variance of a sum of captured samples that stands for @samples is larger than
 * that of as many that were all captured: as if they were (sum of w)² / (sum of w²), Kish's
 * effective number, of one weight.
 */
static double excess_of(uint64_t samples, const struct weights *captured)
{
	double sum = (double)captured->sum;

	return MAX((double)samples * (double)captured->squares / (sum * sum) - 1, 0.0);
}

/* Of groups alike: their samples, and what estimating their stacks adds to the variance. */
struct estimated {
	double samples, variance;
};

/* Of a group, before it is spread. */
struct group {
	const struct leaf *leaves;
	size_t n;
	uint64_t samples, weight, surplus;
	struct weights captured;
};

struct spreading {
	struct profile *p;
	double unit; /* the variance of what counts as one sample that was not estimated */
	struct captured *processes;
	struct estimated hot, cold;
	struct spread_callers callers; /* of the process whose groups are being spread */
};

/* The captured samples of a group stand for all of it. */
static void spread_rows(const struct spreading *s, const struct group *group)
{
	double excess = excess_of(group->samples, &group->captured) * s->unit;
	uint64_t sum = 0, before = 0, weighed = 0;

	for (size_t i = 0; i < group->n; i++) {
		struct profile_stack *row = &s->p->stacks[group->leaves[i].stack];

		row->ticks = 0;
		row->variance = 0;
		if (row->samples == 0) {
			row->weight = 0;
			continue;
		}
		sum += row->samples;
		scale_stack(row, grow(group->samples, sum, group->captured.sum, &before));
		row->weight = grow(group->weight, sum, group->captured.sum, &weighed);
		row->variance = (uint64_t)((double)row->samples * excess + 0.5);
	}
}

/* Those of a group of which nothing was captured stay at their addresses, and get callers later. */
static int keep_ticks(struct spreading *s, const struct group *group)
{
	int r = 0;

	for (size_t i = 0; i < group->n && r >= 0; i++) {
		struct profile_stack *row = &s->p->stacks[group->leaves[i].stack];

		row->samples = row->ticks;
		row->ticks = 0;
		if (row->parent == PROFILE_NONE)
			r = spread_callers_add_stack(&s->callers, group->leaves[i].stack);
	}
	return r;
}

/* The first of the leaves that are one group. */
static struct group find_group(const struct profile *p, const struct leaf *leaves, size_t n)
{
	struct group group = { .leaves = leaves };

	for (; group.n < n && same_group(&leaves[0], &leaves[group.n]); group.n++) {
		const struct profile_stack *row = &p->stacks[leaves[group.n].stack];

		group.captured.sum += row->samples;
		group.surplus += row->surplus;
		group.samples += row->samples + row->ticks;
		group.weight += row->weight;
	}
	group.samples -= group.surplus;
	group.captured.squares = squares_of(group.captured.sum, group.surplus);
	return group;
}

/* What its captured stacks stand for of the groups of which nothing was captured. */
static int add_chains(struct spreading *s, const struct group *group)
{
	const struct captured *process = &s->processes[group->leaves[0].process];
	double counts = (double)group->captured.squares / (double)group->captured.sum; /* each */
	double probability = (double)process->captured / ((double)process->samples * counts);
	double others = spread_callers_others(group->samples, probability);
	int r = 0;

	for (size_t i = 0; i < group->n && r >= 0 && others > 0; i++) {
		double n = (double)s->p->stacks[group->leaves[i].stack].samples;
		const struct caller_chain chain = {
			.stack = group->leaves[i].stack,
			.n_captured = n / counts,
			.others = others * n / (double)group->captured.sum,
			.own = (double)group->samples * counts / (double)group->captured.sum,
		};

		if (n > 0)
			r = spread_callers_add_chain(&s->callers, &chain);
	}
	return r;
}

/* Spreads the ticks of a group over its captured samples. */
static int spread_group(struct spreading *s, const struct group *group)
{
	struct estimated *alike;
	int r;

	if (group->captured.sum == 0)
		return keep_ticks(s, group);
	alike = group->surplus > 0 ? &s->cold : &s->hot;
	alike->samples += (double)group->samples;
	alike->variance +=
		(double)group->samples * excess_of(group->samples, &group->captured) * s->unit;
	r = add_chains(s, group);
	if (r >= 0 && (group->captured.sum != group->samples || group->surplus > 0))
		spread_rows(s, group);
	return r;
}

static double estimated_excess(const struct estimated *alike)
{
	return alike->samples > 0 ? alike->variance / alike->samples : 0;
}

static void count_processes(struct spreading *s, const struct leaf *leaves, size_t n_leaves)
{
	struct group group;

	for (size_t i = 0; i < n_leaves; i += group.n) {
		struct captured *process = &s->processes[leaves[i].process];

		group = find_group(s->p, &leaves[i], n_leaves - i);
		process->samples += group.samples;
		process->captured += group.captured.sum;
	}
}

/* *@ret is the variance that is stated for a row that was not captured: as of the groups that were
 * captured most rarely. 0 or -ENOMEM. */
static int spread_stacks(struct spreading *s, const struct leaf *leaves, size_t n_leaves,
			 double *ret)
{
	struct group group;
	int r = 0;

	count_processes(s, leaves, n_leaves);
	for (size_t i = 0; i < n_leaves && r >= 0; i += group.n) {
		if (i > 0 && leaves[i].process != leaves[i - 1].process)
			r = spread_callers_run(&s->callers, s->p, s->unit);
		group = find_group(s->p, &leaves[i], n_leaves - i);
		if (r >= 0)
			r = spread_group(s, &group);
	}
	if (r >= 0)
		r = spread_callers_run(&s->callers, s->p, s->unit);
	spread_callers_done(&s->callers);
	*ret = MAX(estimated_excess(&s->hot), estimated_excess(&s->cold)) *
	       (s->hot.samples + s->cold.samples);
	return r;
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

/* Of one table: all rows of a process, and what they were spread to so far. */
struct running {
	struct weights all;
	uint64_t sum, before;
};

static void add_to_process(struct running *processes, uint32_t process, uint64_t n,
			   uint64_t surplus)
{
	struct weights *all = &processes[process].all;

	all->sum += n;
	all->squares += squares_of(n, surplus);
}

/*
 * Spreads a row that counted @n, and *@estimated beyond those taken, which becomes its variance. As
 * its share of the process is a ratio, what varies is both the row and the others (Cochran, 6.3):
 * (1 - share)² the variance of the one, plus share² that of the others.
 */
static uint64_t spread_row(const struct spreading *s, uint32_t process, struct running *processes,
			   uint64_t n, uint64_t *estimated)
{
	const struct captured *captured = &s->processes[process];
	struct running *running = &processes[process];
	const struct weights row = { n, squares_of(n, *estimated) };
	const struct weights rest = { running->all.sum - row.sum,
				      running->all.squares - row.squares };
	double share = (double)n / (double)(running->all.sum ?: 1), excess;
	uint64_t spread;

	*estimated = 0;
	if (captured->captured == 0 || n == 0)
		return n;
	running->sum += n;
	spread = grow(captured->samples, running->sum, captured->captured, &running->before);
	excess = (1 - share) * (double)row.squares / (double)row.sum;
	if (rest.sum > 0)
		excess += share * (double)rest.squares / (double)rest.sum;
	excess = excess * (double)captured->samples / (double)captured->captured - 1;
	*estimated = (uint64_t)(MAX(excess, 0.0) * (double)spread * s->unit + 0.5);
	return spread;
}

static void spread_branches(const struct spreading *s, struct running *processes)
{
	struct profile *p = s->p;

	p->counters.rows_counted = p->counters.cycles = 0;
	for (size_t i = 0; i < p->n_branches; i++)
		add_to_process(processes, p->branches[i].process, p->branches[i].taken,
			       p->branches[i].surplus);
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch *row = &p->branches[i];

		scale_branch(row,
			     spread_row(s, row->process, processes, row->taken, &row->variance));
		p->counters.rows_counted += row->taken;
		p->counters.cycles += row->cycles;
	}
}

static void spread_blocks(const struct spreading *s, struct running *processes)
{
	struct profile *p = s->p;

	p->counters.runs_counted = 0;
	for (size_t i = 0; i < p->n_blocks; i++)
		add_to_process(processes, p->blocks[i].process, p->blocks[i].runs,
			       p->blocks[i].surplus);
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *row = &p->blocks[i];

		scale_block(row, spread_row(s, row->process, processes, row->runs, &row->variance));
		p->counters.runs_counted += row->runs;
	}
}

static void spread_streams(const struct spreading *s, struct running *processes)
{
	struct profile *p = s->p;

	p->counters.streams = 0;
	for (size_t i = 0; i < p->n_streams; i++)
		add_to_process(processes, p->streams[i].process, p->streams[i].hits,
			       p->streams[i].surplus);
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream *row = &p->streams[i];
		const struct captured *process = &s->processes[row->process];
		uint64_t hits = spread_row(s, row->process, processes, row->hits, &row->variance);

		p->counters.streams += hits;
		if (process->captured == 0)
			continue;
		row->pruned = MIN(share_of(row->pruned, process->samples, process->captured), hits);
		row->cycles = share_of(row->cycles, process->samples, process->captured);
		row->hits = hits;
	}
}

static int spread_records(const struct spreading *s)
{
	static void (*const tables[])(const struct spreading *s, struct running *processes) = {
		spread_branches,
		spread_blocks,
		spread_streams,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		_cleanup_free_ struct running *processes = NULL;

		if (ARRAY_ALLOCATE_ZEROED(&processes, s->p->n_processes) < 0)
			return -ENOMEM;
		tables[i](s, processes);
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
	struct spreading spreading = { .p = profile, .unit = profile_sample_unit(c) };
	struct captured all = { 0 };
	double variance;
	size_t n;
	int r;

	assert(!profile->spread);
	profile->spread = true;
	if (c->samples_ticked == 0 && !has_surplus(profile))
		return 0;
	r = find_leaves(profile, &leaves, &n);
	if (r < 0 || ARRAY_ALLOCATE_ZEROED(&processes, profile->n_processes) < 0)
		return -ENOMEM;
	spreading.processes = processes;
	r = spread_stacks(&spreading, leaves, n, &variance);
	if (r < 0)
		return r;
	c->stacks_variance += (uint64_t)variance;
	for (size_t i = 0; i < profile->n_processes; i++) {
		all.samples += processes[i].samples;
		all.captured += processes[i].captured;
	}
	if (all.captured > 0)
		scale_counters(c, &all);
	r = spread_records(&spreading);
	balance_counters(c);
	if (r >= 0)
		r = profile_drop_empty(profile);
	return r < 0 ? r : profile_finalize(profile);
}
