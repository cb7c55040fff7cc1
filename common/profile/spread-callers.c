/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/spread-callers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/profile/spread-share.h"
#include "common/util/array.h"

/* Not 0, so that large functions stand for others where only they were captured. */
#define LEAST_MISSED 1e-100

struct moving {
	struct profile *p;
	const uint32_t *next; /* the stack whose samples are moved */
	double excess;        /* of the variance of each */
};

void spread_callers_done(struct spread_callers *callers)
{
	free(callers->chains);
	free(callers->stacks);
	*callers = (struct spread_callers){};
}

double spread_callers_others(double n, double probability)
{
	double missed = pow(1 - MIN(probability, 1.0), n);

	if (probability >= 1)
		return 0;
	missed = MAX(missed, LEAST_MISSED);
	return n * missed / (1 - missed);
}

int spread_callers_add_chain(struct spread_callers *callers, const struct caller_chain *chain)
{
	if (ARRAY_RESERVE(&callers->chains, &callers->cap_chains, callers->n_chains + 1) < 0)
		return -ENOMEM;
	callers->chains[callers->n_chains++] = *chain;
	return 0;
}

int spread_callers_add_stack(struct spread_callers *callers, uint32_t stack)
{
	if (ARRAY_RESERVE(&callers->stacks, &callers->cap_stacks, callers->n_stacks + 1) < 0)
		return -ENOMEM;
	callers->stacks[callers->n_stacks++] = stack;
	return 0;
}

/*
 * By how much the variance of the moved samples is larger than that of as many that were captured:
 * as Kish's effective number has it. A captured stack stands for its own samples, too, and both
 * vary together.
 */
static double find_excess(const struct spread_callers *callers, double scale, double n)
{
	double squares = 0;

	for (size_t i = 0; i < callers->n_chains; i++) {
		const struct caller_chain *chain = &callers->chains[i];
		double each = scale * chain->others / chain->n_captured;

		squares += chain->n_captured * each * (each + 2 * chain->own);
	}
	return MAX(squares / n - 1, 0.0);
}

/* The node of a function that is not known, below the callers of the chain. */
static int64_t add_unknown(struct profile *p, const struct caller_chain *chain)
{
	const struct profile_stack *captured = &p->stacks[chain->stack];
	const struct profile_stack node = {
		.parent = captured->parent,
		.process = captured->process,
		.frame = { .object = PROFILE_NONE },
	};

	return profile_add_stack(p, &node);
}

/* At most @n samples of the next stack: how many, or -ENOMEM. */
static int64_t move_some(struct moving *m, uint32_t parent, uint64_t n)
{
	struct profile_stack *from = &m->p->stacks[*m->next], to = *from;
	int64_t r;

	if (from->samples == 0) {
		m->next++;
		return 0;
	}
	to.parent = parent;
	to.samples = MIN(n, from->samples);
	to.weight = spread_share_of(from->weight, to.samples, from->samples);
	to.variance = (uint64_t)((double)to.samples * m->excess + 0.5);
	from->samples -= to.samples;
	from->weight -= to.weight;
	r = profile_add_stack(m->p, &to);
	return r < 0 ? r : (int64_t)to.samples;
}

/* @n samples of the next stacks, in their order. */
static int move_below(struct moving *m, const struct caller_chain *chain, uint64_t n)
{
	int64_t parent, moved;

	if (n == 0)
		return 0;
	parent = add_unknown(m->p, chain);
	for (; parent >= 0 && n > 0; n -= (uint64_t)moved) {
		moved = move_some(m, (uint32_t)parent, n);
		if (moved < 0)
			return -ENOMEM;
	}
	return parent < 0 ? -ENOMEM : 0;
}

static int move_all(const struct spread_callers *callers, struct profile *p, double unit)
{
	struct moving moving = { .p = p, .next = callers->stacks };
	uint64_t n = 0, before = 0;
	double others = 0, sum = 0;
	int r = 0;

	for (size_t i = 0; i < callers->n_stacks; i++)
		n += p->stacks[callers->stacks[i]].samples;
	for (size_t i = 0; i < callers->n_chains; i++)
		others += callers->chains[i].others;
	if (n == 0 || !(others > 0))
		return 0;
	moving.excess = unit * find_excess(callers, (double)n / others, (double)n);
	for (size_t i = 0; i < callers->n_chains && r >= 0; i++) {
		const struct caller_chain *chain = &callers->chains[i];
		uint64_t now, part;

		sum += chain->others;
		now = MIN((uint64_t)((double)n * (sum / others) + 0.5), n);
		part = now - before;
		before = now;
		if (p->stacks[chain->stack].parent != PROFILE_NONE)
			r = move_below(&moving, chain, part);
	}
	return r;
}

int spread_callers_run(struct spread_callers *callers, struct profile *profile, double unit)
{
	int r = move_all(callers, profile, unit);

	callers->n_chains = callers->n_stacks = 0;
	return r;
}
