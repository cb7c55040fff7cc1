/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sampling may cost: a share of the time of each CPU. The cost is measured window by window;
 * where it exceeds the budget, samples are taken less often, and more often again when there is
 * room. Of the cost a part depends on the rate, and the rest on what runs: so the rate moves in
 * steps towards what would hold the budget if all of the cost did.
 *
 * A window takes one sample in a whole number, so that each counts as that many. Rates between come
 * from windows of both neighbours in turn, by the error that has added up (sigma-delta modulation).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What has been used so far. */
struct cpu_cost {
	uint64_t at_ns;     /* when (CLOCK_MONOTONIC) */
	uint64_t used_ns;   /* CPU time, of all CPUs together */
	uint64_t throttled; /* times that the kernel stopped an event for its cost */
	uint32_t n_cpus;
};

/* Zeroed but for the first two it begins. */
struct cpu_budget {
	double limit;     /* share of each CPU; 0: no limit */
	double max_scale; /* at the lowest rate */
	double scale;     /* samples due for each one taken, on average; 0: not begun */
	uint32_t one_in;  /* of the next window */
	double share;     /* of each CPU that sampling takes, over some windows; 0: not known yet */
	double debt;      /* samples that the windows so far took less than they should have */
	struct cpu_cost last;
	unsigned int n_held; /* windows for which the rate does not rise: the kernel throttled */
};

/* A window has ended, and so much had been used by then. Chooses one_in of the next one. */
void cpu_budget_update(struct cpu_budget *budget, const struct cpu_cost *now);
