/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a call walk, which call-walk.c (the calls that the task is in) and
 * call-walk-report.c (which of them to report) share. Nobody else sees it. */
#pragma once

#include "common/stitch/snapshot-align.h"
#include "common/stitch/stitched.h"
#include "common/stitch/task.h"

struct call_walk {
	struct stitched *result;
	struct stitched_call *room; /* for stacks that differ from the task's levels */
	struct task *task;
	const struct snapshot *s;
	const struct alignment *alignment;
	bool is_placed; /* at a single height */
	int64_t top;
	size_t n_fresh; /* the newest records, which are not remembered */
	/* The oldest of the fresh records, which were there before and have returned since. */
	size_t n_again;
	uint32_t *extents; /* of the functions that these records enter; 0: not computed yet */
	size_t n_levels;   /* the levels that still stand below them */
	size_t n_popped;   /* the levels above @n_levels, which have returned by now */

	uint64_t address;               /* in the function to find next */
	int64_t shift;                  /* of heights, from the jumps found */
	struct stitched_call *accepted; /* room for TASK_MAX_ROWS */
	size_t n_accepted;              /* the outermost first */
	size_t n_believed;              /* of them, above the last jump of unknown kind */
	bool is_truncated, is_joined;
	bool has_gap; /* below the call that is accepted next */
};

static inline bool call_walk_is_ambiguous(const struct call_walk *w)
{
	return w->alignment && w->alignment->placement == PLACE_AMBIGUOUS;
}

/* The calls below level @i are unknown. */
static inline void call_walk_set_gap(struct task *task, size_t i)
{
	task->levels[i].gap = true;
	task->start = TASK_NO_START;
}
