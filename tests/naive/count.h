/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counts of a recording, taken record by record in the naive way: every rule for skipping once
 * more, in other words, and no hash table. So the whole tables of a profile can be compared.
 */
#pragma once

#include "common/profile/profile.h"
#include "tests/naive/naive.h"
#include "tests/naive/tally.h"

struct naive_rules {
	uint32_t source; /* samples of this event count */
	uint32_t
		duplicate_depth; /* snapshots of this many records may repeat the newest; 0: none */
};

/*
 * Keys and counts of the tallies:
 * - pairs: from, to (raw); taken
 * - runs: begin, end (raw); runs
 * - branches: pid, from object, offset, to object, offset; taken, mispredicted, aborted, cycles,
 *   records with cycles, predicted
 * - blocks: pid, object, start, end; runs, cycles, runs with cycles
 * - leaves: pid, object, offset; samples, weight
 */
struct naive_counts {
	struct tally pairs, runs, branches, blocks, leaves;
	struct profile_counters counters;
};

/* Counts @event into @counts, its addresses being what they are to @naive now. */
void naive_count(struct naive_counts *counts, const struct naive *naive,
		 const struct naive_rules *rules, const struct event *event);
/* The same of a profile; pairs and runs stay empty, as it holds none. */
void naive_count_profile(struct naive_counts *counts, struct naive *naive,
			 const struct profile *profile);
/* Puts all tallies in order. */
void naive_counts_fold(struct naive_counts *counts);
void naive_counts_done(struct naive_counts *counts);

/* Are branches, blocks, leaves and counters the same? Where not, stderr says so. */
bool naive_counts_equal(const struct naive_counts *got, const struct naive_counts *expected);
/* Do the sums hold that profile.h promises of the counters? */
bool naive_counters_balance(const struct profile_counters *counters, uint64_t n_samples);
