/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts a recording in the naive way, record by record and without hash tables, with a second
 * implementation of every rule for skipping. Tests compare the tables of a profile with it.
 */
#pragma once

#include "common/profile/profile.h"
#include "tests/naive/naive.h"
#include "tests/naive/tally.h"

struct naive_rules {
	uint32_t source; /* samples of this event count */
	/* Snapshots with this number of records may have the newest twice; 0: none. */
	uint32_t duplicate_depth;
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

/* Counts @event in @counts; @naive has the mappings at its time. */
void naive_count(struct naive_counts *counts, const struct naive *naive,
		 const struct naive_rules *rules, const struct event *event);
/* Counts a profile, which has no pairs and runs. */
void naive_count_profile(struct naive_counts *counts, struct naive *naive,
			 const struct profile *profile);
/* Merges all tallies. */
void naive_counts_merge(struct naive_counts *counts);
void naive_counts_done(struct naive_counts *counts);

/* True if branches, blocks, leaves and counters are equal. If not, prints the differences to
 * stderr. */
bool naive_counts_equal(const struct naive_counts *got, const struct naive_counts *expected);
/* True if the invariants of PROFILE_COUNTERS hold. */
bool naive_counters_balance(const struct profile_counters *counters, uint64_t n_samples);
