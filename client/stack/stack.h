/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The view by stack: the hottest call stacks, summed over all processes.
 *
 * Callers are distinguished by call site. The leaf is a whole function if it has one: samples of a
 * loop are spread over its instructions, and with a row for each no stack would be hot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/profile/profile.h"

/* How many frames of a recursion one frame stands for, at least and at most; see stack-fold.h. */
struct view_stack_turns {
	uint32_t fewest, most;
};

/* What is common to stacks with the same leaf function; see stack-group.h. */
struct view_stack_group {
	struct location at; /* the start of the function; without one, only the object counts */
	uint64_t samples;
	size_t n_stacks; /* 0: not added up */
};

struct view_stack {
	struct location leaf; /* the start of its function, or the sampled location */
	uint32_t caller;      /* of view_stacks.callers, or PROFILE_NONE */
	uint64_t samples;
	uint64_t stitched;             /* frames from earlier samples, summed over the samples */
	uint64_t variance;             /* what estimating adds to that of the samples */
	struct view_stack_turns turns; /* of the leaf */
	struct view_stack_group group;
};

struct view_stack_caller {
	struct location frame;
	uint32_t parent; /* its caller; less than its own number */
	struct view_stack_turns turns;
};

struct view_stacks {
	struct view_stack *rows;
	struct view_stack_caller *callers;
	size_t n_rows, cap_rows, n_callers, cap_callers;
	bool grouped; /* the rows are in the order of their groups */
};

/* The rows of the finalized @profile, hottest first. 0 or -ENOMEM. */
int view_stacks(struct view_stacks **ret, const struct profile *profile);
struct view_stacks *view_stacks_free(struct view_stacks *stacks);
DEFINE_CLEANUP(struct view_stacks *, view_stacks_free);

/* Hottest first. */
void view_stacks_sort(struct view_stacks *stacks);

/* The number of its frames, folded ones once. */
size_t view_stack_depth(const struct view_stacks *stacks, const struct view_stack *stack);
