/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/budget/cpu-budget.h"

#include "common/util/macro.h"

#define AIM        0.95 /* of the budget */
#define LEAST      0.9  /* of the scale: what is nearer to it is noise */
#define MAX_SLOWER 2.0  /* times the scale, from one window to the next */
#define MAX_FASTER 1.25
#define HOLD       6 /* windows */
#define SMOOTHING  6 /* windows */

/* The scale at which a window that took @share would have held the budget. */
static void move_scale(struct cpu_budget *b, double share)
{
	double wanted = b->one_in * share / (AIM * b->limit);

	if (wanted > b->scale)
		b->scale = MIN(wanted, b->scale * MAX_SLOWER);
	else if (wanted < b->scale * LEAST && b->n_held == 0)
		b->scale = MAX(wanted, b->scale / MAX_FASTER);
}

static void choose_one_in(struct cpu_budget *b)
{
	uint32_t below = (uint32_t)b->scale;

	b->debt += 1 / b->scale;
	b->one_in = b->debt * below >= 1 ? below : below + 1;
	b->debt -= 1.0 / b->one_in;
	b->debt = MIN(b->debt, 1); /* of a scale that has changed */
}

void cpu_budget_update(struct cpu_budget *budget, const struct cpu_cost *now)
{
	struct cpu_cost last = budget->last;
	bool throttled = now->throttled > last.throttled;
	double share;

	budget->last = *now;
	if (budget->scale < 1) { /* what the start took says nothing of what follows */
		budget->scale = budget->one_in = 1;
		return;
	}
	if (now->at_ns <= last.at_ns || now->n_cpus == 0 || now->used_ns < last.used_ns)
		return;
	share = (double)(now->used_ns - last.used_ns) /
		((double)(now->at_ns - last.at_ns) * now->n_cpus);
	budget->share += budget->share > 0 ? (share - budget->share) / SMOOTHING : share;
	if (budget->limit <= 0) {
		budget->scale = budget->one_in = 1;
		return;
	}
	budget->n_held = throttled ? HOLD : budget->n_held - (budget->n_held > 0);
	if (throttled)
		budget->scale *= MAX_SLOWER;
	else
		move_scale(budget, share);
	budget->scale = MIN(budget->scale, budget->max_scale);
	budget->scale = MAX(budget->scale, 1);
	choose_one_in(budget);
}
