/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a profile counted of each function: a table so small, and so easily added up, that hours of
 * windows can be compared by it. It holds what the view by function shows, and no path.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct function_tally {
	uint64_t self, total; /* samples in it, and with it in their stack: each of these once */
	uint64_t calls;       /* branches to its first byte from outside of it */
	uint64_t runs;        /* of the blocks that start in it, and */
	uint64_t cycles;      /* of these, of as many runs as */
	uint64_t timed_runs;  /* tells */
};

/* Of one process; all places of an object that are in no function are one row, with @function
 * PROFILE_NONE. */
struct function_count {
	uint32_t process, function;
	struct location at; /* a place in it */
	struct function_tally tally;
};

/* All that a process did; @process may be PROFILE_NONE. */
struct process_tally {
	uint32_t process;
	uint64_t samples, weight, taken, cycles, runs, hits;
	size_t first, n; /* its rows */
};

struct function_counts {
	struct function_count *rows; /* by process, then by function and by object; none twice */
	struct process_tally *processes;
	size_t n_rows, n_processes;
};

/* Of the sealed @profile. 0 or -ENOMEM, and then too function_counts_done() is due. */
int function_counts_init(struct function_counts *counts, const struct profile *profile);
void function_counts_done(struct function_counts *counts);

static inline void function_tally_add(struct function_tally *to, const struct function_tally *tally)
{
	to->self += tally->self;
	to->total += tally->total;
	to->calls += tally->calls;
	to->runs += tally->runs;
	to->cycles += tally->cycles;
	to->timed_runs += tally->timed_runs;
}
