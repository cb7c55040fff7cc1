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
		/* For the user: node is 0 until the user sets it, and again when calls below it
		 * change. */
	} mark;
	bool gap; /* the calls between this one and the one below are unknown */
};

/* The part of a stack in the user's code. Valid until the next call; marks that were set are still
 * there in the task's next stack. */
struct stitched {
	struct stitched_call *callers; /* the outermost first; the last one called the leaf */
	size_t n_callers;
	size_t n_stitched; /* of @callers, the outermost ones, which are from earlier snapshots */
	bool jumps_out;    /* the process leaves calls without returning, as far as is known */
	uint64_t *marker;  /* for the user: what the marks belong to; 0 until set */
};

enum stitch_result {
	STITCH_NONE, /* nothing was remembered */
	STITCH_MADE,
	STITCH_UNALIGNED, /* the snapshot could not be aligned */
	/* Several alignments are possible; the stack holds what they agree on. */
	STITCH_AMBIGUOUS,
	STITCH_INCONSISTENT, /* a call was made by none of the functions known */
};
