/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Aligns a snapshot with what is remembered of its task: finds the height of its newest record.
 *
 * A register keeps its record until the call returns. So records at heights that the stack has not
 * gone below are identical in both snapshots, cycles included, and all above them is new. The
 * hardware index is the height modulo the number of registers. Where common records are not enough,
 * the function that the remembered call enters must be the one that the oldest record calls from.
 * Where several heights remain, one must be likelier than the others by a margin; the likelihood
 * comes from the number of calls and returns between earlier snapshots.
 */
#pragma once

#include "common/stitch/task.h"

struct snapshot {
	uint64_t ip; /* in the user's code */
	const struct branch_record *rows;
	uint32_t n_rows;
	uint32_t depth;  /* number of registers */
	bool has_cycles; /* or flags: without, records of a recursion are all alike */
	bool has_index;
	uint32_t index; /* of the newest record */
};

#define ALIGN_MAX_CANDIDATES 48u

struct candidate {
	int64_t top;
	uint32_t n_same; /* records in common, from the oldest on */
	uint32_t steps;  /* the least number of calls and returns */
	bool is_unseen;  /* the call below it was never seen */
	double weight;   /* likelihood relative to the others */
};

enum placement {
	PLACE_UNKNOWN, /* nothing in common, or undecidable */
	PLACE_CERTAIN,
	PLACE_LIKELY,
	PLACE_AMBIGUOUS, /* one of the candidates; the first is the likeliest */
};

struct alignment {
	enum placement placement;
	struct candidate candidates[ALIGN_MAX_CANDIDATES];
	size_t n_candidates;
	bool too_many; /* there were more candidates than there is room for */
};

/* Aligns @s with @task, which has a snapshot already. */
void snapshot_align(struct alignment *ret, struct task *task, const struct snapshot *s);

/* Counts the calls and returns since the last snapshot; the alignment of both must be certain. */
void snapshot_align_note_pace(struct task *task, const struct candidate *candidate);
