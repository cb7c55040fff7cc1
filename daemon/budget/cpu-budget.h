/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sampling may cost: a share of the time of each CPU. The cost is measured window by window;
 * where it exceeds the budget, samples are taken less often, and more often again when there is
 * room. Only a part of the cost follows the rate. The rest depends on what runs: processes to be
 * followed, windows to be stored. Samples have what it leaves of the budget, but at least a quarter
 * of it: else somebody who starts many processes could have others sampled hardly at all.
 *
 * A CPU that idles is due no samples by the clock. The rate is one that holds the budget on busy
 * CPUs, also while they idle: a window that begins idle and ends busy would else take many times
 * the budget. What a sample takes on busy CPUs is measured when they are, and assumed before that;
 * while they idle it slowly falls to what is assumed.
 *
 * A window takes one sample in a whole number, so that each counts as that many. Rates between come
 * from windows of both neighbours in turn, by the error that has added up (sigma-delta modulation).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/budget/last-hour.h"

/* What has been used so far. */
struct cpu_cost {
	uint64_t at_ns; /* when (CLOCK_MONOTONIC) */
	/* CPU time, of all CPUs together: of the BPF program, for samples and for all events, and
	 * of what does not follow the rate */
	uint64_t program_ns, counting_ns, rest_ns;
	uint64_t n_taken;             /* runs of the BPF program for samples */
	uint64_t n_samples, n_others; /* the events */
	uint64_t throttled;           /* times that the kernel stopped an event for its cost */
	uint32_t n_cpus;
};

struct cpu_budget {
	double limit;     /* share of each CPU; 0: no limit */
	double max_scale; /* at the lowest rate */
	double hz;        /* samples that a busy CPU is due in a second; 0: not known */
	double busy;     /* share of each CPU that samples take if all are busy and all are taken */
	double wanted;   /* the scale that the limit asks for; more than 1: it lowers the rate */
	double scale;    /* samples due for each one taken, on average */
	uint32_t one_in; /* of the next window */
	double share;    /* of each CPU that sampling takes, over some windows; 0: not known yet */
	double debt;     /* samples that the windows so far took less than they should have */
	struct cpu_cost last;
	struct last_hour hour;
	unsigned int n_held; /* windows for which the rate does not rise: the kernel throttled */
};

/* Chooses one_in of the first window. @hz: 0 if it is not known. */
void cpu_budget_begin(struct cpu_budget *budget, double limit, double max_scale, double hz);

/* A window has ended, and so much had been used by then. Chooses one_in of the next one. */
void cpu_budget_update(struct cpu_budget *budget, const struct cpu_cost *now);
