/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stitched call stack, and how stitching it went. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call that a task is in. */
struct stitched_call {
	uint64_t from, to;
	int64_t height; /* see task.h */
	struct {
		uint64_t hash;
		uint32_t node;
	} mark;   /* the user's: node 0 until he sets it, and where calls below it are others */
	bool gap; /* what lies between it and the call below was not seen */
};

/* The user's part of a stack. Valid until the next call; marks set are there again in the task's
 * next. */
struct stitched {
	struct stitched_call *callers; /* the outermost first; the last is the leaf's */
	size_t n_callers;
	size_t n_stitched; /* of these, the outermost that are from earlier snapshots */
	uint64_t *marker;  /* the user's: what his marks are of; 0 until he sets it */
};

enum stitch_result {
	STITCH_NONE, /* nothing was remembered */
	STITCH_MADE,
	STITCH_UNALIGNED,    /* it could not be told where the snapshot belongs */
	STITCH_AMBIGUOUS,    /* there were several places: as far as all of them agree */
	STITCH_INCONSISTENT, /* a call was made by none of those that are known */
};
