/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/spread.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/profile/drop-empty.h"
#include "common/profile/scale.h"
#include "common/profile/spread-callers.h"
#include "common/profile/spread-records.h"
#include "common/profile/spread-share.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* A leaf that was sampled, and the group in which it stands for others. */
struct leaf {
	uint32_t stack, process;
	uint32_t function; /* of the object, or PROFILE_NONE */
	uint32_t object;
};

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

		if (stack->samples + stack->ticks + stack->surplus == 0)
			continue;
		leaves[n++] = (struct leaf){
			.stack = (uint32_t)i,
			.process = stack->process,
			.function = p->places[p->stack_places[i]].function,
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
	row->stitched = spread_share_of(row->stitched, samples, row->samples);
	row->pruned = spread_share_of(row->pruned, samples, row->samples);
	row->samples = samples;
}

/*
 * By how much the variance of a sum of captured samples that stands for @samples is larger than
 * that of as many that were all captured: as if they were (sum of w)² / (sum of w²), Kish's
 * effective number, of one weight.
 */
static double excess_of(uint64_t samples, const struct spread_weights *captured)
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
	struct spread_weights captured;
};

struct spreading {
	struct profile *p;
	double unit; /* the variance of what counts as one sample that was not estimated */
	struct spread_captured *processes;
	struct estimated hot, cold;
	/* of the process whose groups are being spread: of its own code, and of the kernel's */
	struct spread_callers user, kernel;
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
		scale_stack(row, spread_grow(group->samples, sum, group->captured.sum, &before));
		row->weight = spread_grow(group->weight, sum, group->captured.sum, &weighed);
		row->variance = (uint64_t)((double)row->samples * excess + 0.5);
	}
}

/* Code of the kernel is below system calls and interrupts; that of the process is not. */
static struct spread_callers *callers_of(struct spreading *s, const struct group *group)
{
	uint32_t object = group->leaves[0].object;
	enum object_kind kind = object == PROFILE_NONE ? OBJECT_MEMORY : s->p->objects[object].kind;

	return kind == OBJECT_KERNEL || kind == OBJECT_MODULE ? &s->kernel : &s->user;
}

/* Where nothing of the kernel was captured, its functions are below those of the process. */
static int run_callers(struct spreading *s)
{
	int r = 0;

	for (size_t i = 0; i < s->kernel.n_stacks && s->kernel.n_chains == 0 && r >= 0; i++)
		r = spread_callers_add_stack(&s->user, s->kernel.stacks[i]);
	if (r >= 0)
		r = spread_callers_run(&s->user, s->p, s->unit);
	return r < 0 ? r : spread_callers_run(&s->kernel, s->p, s->unit);
}

/* Those of a group of which nothing was captured stay at their addresses, and get callers later. */
static int keep_ticks(struct spreading *s, const struct group *group)
{
	int r = 0;

	for (size_t i = 0; i < group->n && r >= 0; i++) {
		struct profile_stack *row = &s->p->stacks[group->leaves[i].stack];

		row->samples = row->ticks;
		row->ticks = 0;
		r = spread_callers_add_stack(callers_of(s, group), group->leaves[i].stack);
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
	group.captured.squares = spread_squares_of(group.captured.sum, group.surplus);
	return group;
}

/* What its captured stacks stand for of the groups of which nothing was captured. */
static int add_chains(struct spreading *s, const struct group *group)
{
	const struct spread_captured *process = &s->processes[group->leaves[0].process];
	double counts = (double)group->captured.squares / (double)group->captured.sum; /* each */
	double n_taken = (double)(group->captured.sum - group->surplus);
	double mean = (double)group->captured.sum / n_taken;
	double probability = (double)process->captured / ((double)process->samples * mean);
	double others = spread_callers_others((double)group->samples / s->unit, probability);
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
			r = spread_callers_add_chain(callers_of(s, group), &chain);
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
		struct spread_captured *process = &s->processes[leaves[i].process];

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
			r = run_callers(s);
		group = find_group(s->p, &leaves[i], n_leaves - i);
		if (r >= 0)
			r = spread_group(s, &group);
	}
	if (r >= 0)
		r = run_callers(s);
	spread_callers_done(&s->user);
	spread_callers_done(&s->kernel);
	*ret = MAX(estimated_excess(&s->hot), estimated_excess(&s->cold)) *
	       (s->hot.samples + s->cold.samples);
	return r;
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

static void scale_counters(struct profile_counters *c, const struct spread_captured *all)
{
#define X(name, what)                                                \
	if (is_of_captured(offsetof(struct profile_counters, name))) \
		c->name = spread_share_of(c->name, all->samples, all->captured);
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
	_cleanup_free_ struct spread_captured *processes = NULL;
	_cleanup_free_ struct leaf *leaves = NULL;
	struct profile_counters *c = &profile->counters;
	struct spreading spreading = { .p = profile, .unit = profile_sample_unit(c) };
	struct spread_captured all = { 0 };
	double variance;
	size_t n;
	int r;

	assert(profile->finalized && !profile->spread);
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
	r = spread_records(profile, processes, spreading.unit);
	balance_counters(c);
	if (r >= 0)
		r = profile_drop_empty(profile);
	return r < 0 ? r : profile_finalize(profile);
}
