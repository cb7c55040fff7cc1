/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What walk.c (which calls the task is in) and walk-tell.c (which of them to tell) share, and
 * nobody else sees. */
#pragma once

#include "common/stitch/snapshot-align.h"
#include "common/stitch/stitched.h"
#include "common/stitch/task.h"

struct call_walk {
	struct stitched *result;
	struct stitched_call *room; /* for stacks that are not in the task's levels as they are */
	struct task *task;
	const struct snapshot *s;
	const struct alignment *alignment;
	bool is_placed; /* at one height */
	int64_t top;
	size_t n_fresh;    /* the newest rows, that are not remembered */
	size_t n_again;    /* of these the oldest, that were there before and have returned since */
	uint32_t *extents; /* of the functions that these rows enter; 0: not asked for yet */
	size_t n_levels;   /* those that still stand below them */
	size_t n_popped;   /* and above these, those that returned by now */

	uint64_t address;               /* in the function to be found next */
	int64_t shift;                  /* of heights, by the jumps found */
	struct stitched_call *accepted; /* room for TASK_MAX_ROWS */
	size_t n_accepted, n_believed;  /* the second, until the first jump that is not known */
	bool is_cut, is_joined, has_pending_jump;
};

static inline bool call_walk_is_ambiguous(const struct call_walk *w)
{
	return w->alignment && w->alignment->placement == PLACE_AMBIGUOUS;
}
