/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples of pruned stacks keep their function: they are counted below the nearest caller that is
 * kept, once for each function; where these rows are too many, the rarest of them without callers;
 * and where these are, too, at the address 0. So callers that are kept have all of their samples.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/profile/add-counts.h"
#include "common/profile/limit/internal.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* A user may have an eighth of his stacks for pruned ones below a caller, and one for those without
 * callers. */
#define SPARE 8

/* Samples of a pruned stack. */
struct limit_rest {
	struct profile_stack stack; /* its parent is in the new order */
	uint32_t function;          /* or PROFILE_NONE */
};

enum rest_level {
	BELOW_CALLER, /* the nearest one that is kept */
	WITHOUT_CALLERS,
	AT_ADDRESS_0,
	N_REST_LEVELS,
};

static int compare_rest(const void *p, const void *q)
{
	const struct limit_rest *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->stack.process, b->stack.process));
	RETURN_UNLESS_EQUAL(COMPARE(a->stack.parent, b->stack.parent));
	RETURN_UNLESS_EQUAL(COMPARE(a->stack.frame.object, b->stack.frame.object));
	RETURN_UNLESS_EQUAL(COMPARE(a->function, b->function));
	RETURN_UNLESS_EQUAL(COMPARE(b->stack.samples, a->stack.samples));
	return COMPARE(a->stack.frame.offset, b->stack.frame.offset);
}

static bool is_same_function(const struct limit_rest *a, const struct limit_rest *b)
{
	return a->stack.process == b->stack.process && a->stack.parent == b->stack.parent &&
	       a->stack.frame.object == b->stack.frame.object && a->function == b->function;
}

/* One row for each function, with its most frequent address. */
static void unite_rest(struct limit_work *l)
{
	size_t n = 0;

	if (l->n_rest > 0)
		qsort(l->rest, l->n_rest, sizeof(*l->rest), compare_rest);
	for (size_t i = 0; i < l->n_rest; i++) {
		const struct limit_rest *row = &l->rest[i];

		if (n == 0 || !is_same_function(&l->rest[n - 1], row)) {
			l->rest[n++] = *row;
			continue;
		}
		add_counts_of_stack(&l->rest[n - 1].stack, &row->stack);
	}
	l->n_rest = n;
}

static void move_rest(struct limit_work *l, enum rest_level level)
{
	for (size_t i = 0; i < l->n_rest; i++) {
		struct limit_rest *row = &l->rest[i];

		if (level >= WITHOUT_CALLERS)
			row->stack.parent = PROFILE_NONE;
		if (level < AT_ADDRESS_0)
			continue;
		row->stack.frame = (struct location){ PROFILE_NONE, 0 };
		row->function = PROFILE_NONE;
	}
}

/* Adds as many rows as there may be on this level; the others are left. */
static int add_rest(struct limit_work *l, enum rest_level level)
{
	size_t n = 0;

	move_rest(l, level);
	unite_rest(l);
	for (size_t u = 0; u < l->n_users; u++)
		l->users[u].max_rows =
			level == AT_ADDRESS_0 ? UINT64_MAX : l->users[u].limit / SPARE;
	for (size_t i = 0; i < l->n_rest; i++)
		l->weights[i] = l->rest[i].stack.samples;
	if (l->n_rest > 0)
		limit_choose(l, &l->rest->stack.process, l->n_rest,
			     sizeof(*l->rest) / sizeof(uint32_t));
	for (size_t i = 0; i < l->n_rest; i++) {
		if (!l->kept[i])
			l->rest[n++] = l->rest[i];
		else if (profile_add_stack(l->p, &l->rest[i].stack) < 0)
			return -ENOMEM;
	}
	l->n_rest = n;
	return 0;
}

/* Of the stack that had the index @i. Those without samples are callers, of others that are pruned,
 * too. */
static void note_rest(struct limit_work *l, size_t i, const struct profile_stack *stack)
{
	struct limit_rest *row = &l->rest[l->n_rest];

	if (!stack->samples && !stack->stitched && !stack->weight)
		return;
	*row = (struct limit_rest){ .stack = *stack };
	row->function = l->p->places[l->p->stack_places[i]].function;
	row->stack.pruned = stack->samples;
	l->n_rest++;
}

static void weigh_stacks(struct limit_work *l)
{
	const struct profile *p = l->p;

	for (size_t i = 0; i < p->n_stacks; i++)
		l->weights[i] = p->stacks[i].samples;
	for (size_t i = p->n_stacks; i-- > 0;)
		if (p->stacks[i].parent != PROFILE_NONE)
			l->weights[p->stacks[i].parent] += l->weights[i];
}

int limit_stacks(struct limit_work *l)
{
	struct profile *p = l->p;
	uint64_t error = 0;
	size_t n = 0;
	int r = 0;

	weigh_stacks(l);
	for (size_t u = 0; u < l->n_users; u++)
		if (l->users[u].n_rows > l->users[u].limit)
			l->users[u].max_rows -= l->users[u].limit / SPARE * 2;
	limit_choose(l, LIMIT_PROCESSES(p->stacks, p->n_stacks));
	if (ARRAY_ALLOCATE(&l->rest, p->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack stack = p->stacks[i];

		if (stack.parent != PROFILE_NONE)
			stack.parent = l->map[stack.parent];
		if (l->kept[i]) {
			p->stacks[n] = stack;
			l->map[i] = (uint32_t)n++;
			continue;
		}
		note_rest(l, i, &stack);
		l->map[i] = stack.parent;
		p->counters.stacks_pruned += stack.samples - stack.pruned;
		error = MAX(error, l->weights[i]);
	}
	p->n_stacks = n;
	p->counters.stacks_error += error;
	for (enum rest_level level = BELOW_CALLER; r >= 0 && level < N_REST_LEVELS; level++)
		r = add_rest(l, level);
	return r;
}
