/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counts of a profile per process and function, as the view by function shows them, or by
 * object. The table is small and easy to add up, so that it serves to compare hours of windows. It
 * has no paths.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct function_tally {
	uint64_t self;       /* samples in the function */
	uint64_t total;      /* samples with the function in their stack, each counted once */
	uint64_t variance;   /* what estimating adds to that of @total: by those not in @self */
	uint64_t calls;      /* branches to its first byte from outside of it */
	uint64_t runs;       /* of the blocks that start in it */
	uint64_t cycles;     /* of the runs with a number of cycles */
	uint64_t timed_runs; /* runs with a number of cycles */
};

/*
 * The counts of one function in one process. All locations of an object outside of its functions
 * are one row, with PROFILE_NONE as @function.
 */
struct function_count {
	uint32_t process, function;
	struct location at; /* the lowest location counted */
	struct function_tally tally;
};

/* The sums of one process; @process may be PROFILE_NONE. */
struct process_tally {
	uint32_t process;
	uint64_t samples, weight, taken, cycles, runs, hits;
	size_t first, n; /* its range of function_counts.rows */
};

struct function_counts {
	struct function_count *rows; /* by process, function and object; each key once */
	struct process_tally *processes;
	size_t n_rows, n_processes;
	size_t n_functions, n_objects; /* of the profile, see function_counts_slot() */
};

/* A number for each function, then each object and no object, where there is no function. */
static inline size_t function_counts_slot(const struct function_counts *counts, uint32_t function,
					  uint32_t object)
{
	if (function != PROFILE_NONE)
		return function;
	return counts->n_functions + (object == PROFILE_NONE ? counts->n_objects : object);
}

static inline size_t function_counts_n_slots(const struct function_counts *counts)
{
	return counts->n_functions + counts->n_objects + 1;
}

/* Counts the finalized @profile. 0 or -ENOMEM; call function_counts_done() in either case. */
int function_counts_init(struct function_counts *counts, const struct profile *profile);
/* The same by object: no row has a function, or anything but self and total; no process has sums.
 */
int function_counts_init_objects(struct function_counts *counts, const struct profile *profile);
/* Both in one walk along the stacks. */
int function_counts_init_both(struct function_counts *functions, struct function_counts *objects,
			      const struct profile *profile);
void function_counts_done(struct function_counts *counts);

static inline void function_tally_add(struct function_tally *to, const struct function_tally *tally)
{
	to->self += tally->self;
	to->total += tally->total;
	to->variance += tally->variance;
	to->calls += tally->calls;
	to->runs += tally->runs;
	to->cycles += tally->cycles;
	to->timed_runs += tally->timed_runs;
}
