/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/budget/cpu-budget.h"

#include "common/util/macro.h"

#define AIM        0.95 /* of the budget */
#define SAMPLES    0.25 /* of the budget, that samples may take whatever the rest takes */
#define HEAVIER    4    /* a sample to be counted, than another event: its stack is unwound */
#define LEAST      0.9  /* of the scale: what is nearer to it is noise */
#define MAX_SLOWER 2.0  /* times the scale, from one window to the next */
#define MAX_FASTER 1.25
#define HOLD       6    /* windows */
#define SMOOTHING  6    /* windows */
#define BUSY       0.25 /* of the CPUs' time: then what samples take is that of busy CPUs */
#define ASSUMED    8e-6 /* seconds, that a sample takes */
#define FORGET     360  /* windows, in which most of what was dearer than that is forgotten */

/* Shares of each CPU: of what follows the rate, and of the rest. */
struct shares {
	double samples, rest;
};

static struct shares measure(const struct cpu_cost *from, const struct cpu_cost *to)
{
	double elapsed = (double)(to->at_ns - from->at_ns) * to->n_cpus;
	double counting = (double)(to->counting_ns - from->counting_ns) / elapsed;
	double samples = HEAVIER * (double)(to->n_samples - from->n_samples);
	double events = samples + (double)(to->n_others - from->n_others);
	double of_samples = events > 0 ? counting * samples / events : 0;

	return (struct shares){
		.samples = (double)(to->program_ns - from->program_ns) / elapsed + of_samples,
		.rest = (double)(to->rest_ns - from->rest_ns) / elapsed + counting - of_samples,
	};
}

/* Whether the time between both can be measured. */
static bool is_later(const struct cpu_cost *last, const struct cpu_cost *now)
{
	return last->at_ns > 0 && now->at_ns > last->at_ns && now->n_cpus > 0 &&
	       now->program_ns >= last->program_ns && now->counting_ns >= last->counting_ns &&
	       now->rest_ns >= last->rest_ns && now->n_samples >= last->n_samples &&
	       now->n_others >= last->n_others && now->n_taken >= last->n_taken;
}

/* Learns from a window in which CPUs were busy. If they no longer are, samples that were dear once
 * do not keep the rate low for good. */
static void learn(struct cpu_budget *b, const struct cpu_cost *from, const struct cpu_cost *to,
		  double samples)
{
	double seconds = (double)(to->at_ns - from->at_ns) / 1e9 * to->n_cpus;
	double due = (double)(to->n_taken - from->n_taken) * b->one_in;
	double busy = b->hz > 0 ? due / (b->hz * seconds) : 0;

	if (busy >= BUSY)
		b->busy += (b->one_in * samples / MIN(busy, 1) - b->busy) / 2;
	else
		b->busy -= MAX(b->busy - b->hz * ASSUMED, 0) / FORGET;
}

/* The scale at which a window of that cost would have held the budget, also if all CPUs had been
 * busy. */
static double wanted_scale(const struct cpu_budget *b, const struct shares *cost)
{
	double left = MAX(AIM * b->limit - cost->rest, SAMPLES * b->limit);

	return b->limit > 0 ? MAX(b->one_in * cost->samples, b->busy) / left : 1;
}

static void move_scale(struct cpu_budget *b)
{
	if (b->wanted > b->scale)
		b->scale = MIN(b->wanted, b->scale * MAX_SLOWER);
	else if (b->wanted < b->scale * LEAST && b->n_held == 0)
		b->scale = MAX(b->wanted, b->scale / MAX_FASTER);
}

static void choose_one_in(struct cpu_budget *b)
{
	uint32_t below = (uint32_t)b->scale;

	b->debt += 1 / b->scale;
	b->one_in = b->debt * below >= 1 ? below : below + 1;
	b->debt -= 1.0 / b->one_in;
	b->debt = MIN(b->debt, 1); /* of a scale that has changed */
}

/* Within what is allowed, and one_in after it. */
static void set_scale(struct cpu_budget *b, double scale)
{
	scale = b->limit > 0 ? MIN(scale, b->max_scale) : 1;
	b->scale = MAX(scale, 1);
	choose_one_in(b);
}

void cpu_budget_begin(struct cpu_budget *budget, double limit, double max_scale, double hz)
{
	*budget = (struct cpu_budget){
		.limit = limit,
		.max_scale = max_scale,
		.hz = hz,
		.busy = hz * ASSUMED,
	};
	budget->wanted = limit > 0 ? budget->busy / (AIM * limit) : 1;
	set_scale(budget, budget->wanted);
}

void cpu_budget_update(struct cpu_budget *budget, const struct cpu_cost *now)
{
	struct cpu_cost last = budget->last;
	bool throttled = now->throttled > last.throttled;
	struct shares cost;
	double share;

	budget->last = *now;
	if (!is_later(&last, now)) /* the first time: the start says nothing of what follows */
		return;
	cost = measure(&last, now);
	share = cost.samples + cost.rest;
	last_hour_add(&budget->hour, now->at_ns, (double)(now->at_ns - last.at_ns) / 1e9,
		      &(struct last_hour_average){ share, 1.0 / budget->one_in });
	budget->share += budget->share > 0 ? (share - budget->share) / SMOOTHING : share;
	learn(budget, &last, now, cost.samples);
	budget->wanted = wanted_scale(budget, &cost);
	budget->n_held = throttled ? HOLD : budget->n_held - (budget->n_held > 0);
	if (throttled)
		budget->scale *= MAX_SLOWER;
	else
		move_scale(budget);
	set_scale(budget, budget->scale);
}
