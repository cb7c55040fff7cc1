/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is remembered of a task: the calls it is in, as far as branch records have shown, and its
 * last snapshot.
 *
 * Each call has a height: the number of calls less returns that the hardware has counted by then,
 * from an arbitrary start. The register of a record is its height modulo the number of registers,
 * also for records that no register holds any more.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/stitch/function-starts.h"
#include "common/stitch/stitched.h"

#define TASK_MAX_ROWS   64u   /* the most that any hardware has */
#define TASK_MAX_LEVELS 1024u /* calls remembered; of deeper stacks the outermost are forgotten */

#define TASK_NO_START SIZE_MAX

#define PACE_BINS 17u
#define PACE_STEP 8u  /* calls and returns a bin, except the last */
#define PACE_UNIT 64u /* what one snapshot adds */

/* Code ran at height @high while a function that is the target of a jump stands at @low: the
 * records between may be dead, see function-starts.h. */
struct pending_jump {
	bool stands;
	int64_t low, high;
	uint64_t from, jump_target;
};

struct task {
	int32_t tid;
	struct function_starts *starts;
	struct stitched_call *levels; /* the outermost first; their heights increase */
	size_t n_levels, cap_levels;
	/* These levels, and above them some that returned and may be called again. */
	size_t n_marked;
	size_t start;    /* the topmost level with a gap below it, or TASK_NO_START: unknown */
	uint64_t marker; /* see struct stitched */
	uint64_t marked; /* the marker of the levels that returned */

	/* The records of the last snapshot, each at its height: task_row(). Above them those that
	 * have returned since, from the same stack or none. All of them were learnt. */
	struct branch_record rows[TASK_MAX_ROWS];
	uint32_t extents[TASK_MAX_ROWS]; /* of the functions entered; 0: not computed yet */
	uint64_t version;                /* the version of @starts that @extents belong to */
	uint32_t n_rows;
	int64_t top;       /* the height of the newest record */
	bool is_known;     /* there was a snapshot */
	bool may_be_stale; /* some records may be from before an exec */
	bool is_sure;      /* its height relative to the snapshot before is certain */
	uint32_t epoch;
	uint64_t learnt; /* the identity of @starts when the records were added to it */

	/* Calls and returns between snapshots with certain alignment. */
	uint32_t pace[PACE_BINS];
	uint32_t n_paces;
	struct pending_jump pending_jump;
};

static inline struct branch_record *task_row(struct task *task, int64_t height)
{
	return &task->rows[(uint64_t)height % TASK_MAX_ROWS];
}

static inline uint32_t *task_extent(struct task *task, int64_t height)
{
	return &task->extents[(uint64_t)height % TASK_MAX_ROWS];
}

static inline void task_clear_row(struct task *task, int64_t height)
{
	*task_row(task, height) = (struct branch_record){ 0 };
	*task_extent(task, height) = 0;
}

/* The index of the first level at @height or above it, or n_levels. */
static inline size_t task_find_above(const struct task *task, int64_t height)
{
	size_t low = 0, high = task->n_levels, guess;

	/* Mostly no level is missing between this one and the topmost. */
	if (high > 0 && height <= task->levels[high - 1].height) {
		guess = high - 1 -
			(size_t)MIN(task->levels[high - 1].height - height, (int64_t)high - 1);
		if (task->levels[guess].height == height)
			return guess;
	}
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (task->levels[middle].height < height)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The index of the level at @height, or -1. */
static inline int64_t task_find_level(const struct task *task, int64_t height)
{
	size_t i = task_find_above(task, height);

	return i < task->n_levels && task->levels[i].height == height ? (int64_t)i : -1;
}
