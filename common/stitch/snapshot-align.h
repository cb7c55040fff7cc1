/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a snapshot belongs on what is remembered of its task: at what height its newest row is.
 *
 * A register keeps its row until the call returns, so rows of heights that the stack has not gone
 * below are the very same in both snapshots, cycles included; above them all is new. The hardware
 * index gives the height modulo the number of registers. Where rows in common do not decide it, the
 * function that the remembered call enters must be the one that the oldest row calls from; and of
 * several heights that are possible then, one must be likely by a margin: by how many calls and
 * returns there were between snapshots so far.
 */
#pragma once

#include "common/stitch/task.h"

struct snapshot {
	uint64_t ip; /* the user's */
	const struct branch_record *rows;
	uint32_t n_rows;
	uint32_t depth; /* registers there are */
	bool has_index;
	uint32_t index; /* the register of the newest row */
};

#define ANCHOR_MAX_CANDIDATES 48u

struct candidate {
	int64_t top;
	uint32_t n_same; /* rows in common, from the oldest on */
	uint32_t steps;  /* calls and returns that it takes at least */
	bool is_unseen;  /* the call that it stands on was not */
	double weight;   /* how likely it is, beside others */
};

enum placement {
	PLACE_UNKNOWN, /* nothing in common, or it cannot be told what */
	PLACE_SURE,
	PLACE_LIKELY,
	PLACE_AMBIGUOUS, /* one of the candidates, the first being the likeliest */
};

struct alignment {
	enum placement placement;
	struct candidate candidates[ANCHOR_MAX_CANDIDATES];
	size_t n_candidates;
	bool too_many; /* there are more */
};

/* The task has a snapshot. */
void snapshot_align(struct alignment *ret, struct task *task, const struct snapshot *s);

/* Takes note of how far the task has got, the place of both snapshots being certain. */
void snapshot_align_note_pace(struct task *task, const struct candidate *candidate);
