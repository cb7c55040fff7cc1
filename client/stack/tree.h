/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The view by stack as a tree, summed over all processes: callers first, from the start of programs
 * to the functions they call; or callees first, from the sampled functions to their callers. A
 * frame is a whole function if it has one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/stack/code-unit.h"
#include "common/profile/profile.h"

/* The roots; also the numbers of the stack view's orders in top-order.h. */
enum view_tree_first {
	VIEW_TREE_NONE, /* no tree, but a list of stacks */
	VIEW_TREE_CALLER,
	VIEW_TREE_CALLEE,
	N_VIEW_TREES,
};

struct view_tree_row {
	struct location frame; /* the start of its function or unit, or the location */
	uint32_t parent;       /* less than its own number, or PROFILE_NONE */
	uint32_t depth;        /* 0: a root */
	uint64_t total;        /* samples of the path from the root to this row, and below */
	uint64_t self;         /* samples whose stack ends here */
	bool is_last, is_only; /* among the rows of its parent */
};

/* Each row is followed by all below it, hottest first. */
struct view_tree {
	struct view_tree_row *rows;
	size_t n_rows, cap_rows;
	size_t n_left_out; /* rows that were left out */
};

/* The word for --tree, and back: -EINVAL for other words. */
const char *view_tree_name(enum view_tree_first first);
int view_tree_parse(enum view_tree_first *ret, const char *name);

/* The @n hottest rows of the finalized @profile; 0: all. 0 or -ENOMEM. */
int view_tree(struct view_tree **ret, const struct profile *profile, enum view_tree_first first,
	      size_t n);

/* The same with a row for each piece of code without a symbol, instead of one for each location. */
int view_tree_by_unit(struct view_tree **ret, const struct code_units *units,
		      enum view_tree_first first, size_t n);

/* The code that a tree is about: by function of a profile, and by object its code in none. */
struct view_tree_focus {
	const bool *functions, *objects;
};

/*
 * The same of that code, which is the root: what it calls, callers first; or its callers, callees
 * first. A stack that has it more than once counts from the oldest one on.
 */
int view_tree_about(struct view_tree **ret, const struct profile *profile,
		    enum view_tree_first first, size_t n, const struct view_tree_focus *focus);
struct view_tree *view_tree_free(struct view_tree *tree);
DEFINE_CLEANUP(struct view_tree *, view_tree_free);

/* Keeps the rows that are @wanted[], and the rows above and below them. Overwrites @wanted. 0 or
 * -ENOMEM. */
int view_tree_keep(struct view_tree *tree, bool *wanted);
