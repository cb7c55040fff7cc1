/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sampling takes of the CPUs, window by window, and the budget for it. All but the limit
 * belongs to the collector's thread; other threads read what it publishes.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "daemon/budget/cpu-budget.h"
#include "daemon/sampler/report.h"

struct own_cost {
	struct cpu_budget budget;
	clockid_t storing;                     /* the clock of the thread that stores windows */
	uint64_t n_samples, n_others;          /* events that were handled */
	uint64_t closing_ns;                   /* CPU time for the ends of windows */
	_Atomic double limit;                  /* share of each CPU; 0: none */
	_Atomic double share, wanted, scale;   /* see struct cpu_budget */
	atomic_bool throttled;                 /* or not long ago */
	_Atomic double hour_share, hour_taken; /* see struct last_hour_average */
};

/* What others see of it. */
struct own_cost_report {
	double share;   /* of each CPU, that sampling takes of late; 0: not known yet */
	double scale;   /* samples due for each one taken, on average; at least 1 */
	bool limited;   /* the budget asks for a lower rate */
	bool throttled; /* the kernel throttled sampling not long ago, which lowers the rate */
	struct last_hour_average hour; /* up to the last window */
};

/*
 * Called by the thread that stores windows. @max_scale: samples due for each one taken, at most;
 * @hz: samples that a busy CPU is due in a second, or 0. Returns
 * how many samples are due for each one taken in the first window.
 */
uint32_t own_cost_init(struct own_cost *cost, double limit, double max_scale, double hz);

/* A window ends. Returns how many samples are due for each one taken in the next. */
uint32_t own_cost_end_window(struct own_cost *cost, const struct sampler_counts *counts);

/* Any thread may call it, and set @limit. */
void own_cost_get(const struct own_cost *cost, struct own_cost_report *ret);
