/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The view by stack as a tree, all processes added up: callers first, from where programs begin to
 * what they call, or callees first, from where samples were taken to what called that. Frames are
 * whole functions where they have one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/profile/profile.h"

/* What stands first; also the numbers of the stack view's orders in top-order.h. */
enum view_tree_first {
	VIEW_TREE_NONE, /* no tree, but a list of stacks */
	VIEW_TREE_CALLER,
	VIEW_TREE_CALLEE,
	N_VIEW_TREES,
};

struct view_tree_row {
	struct location frame; /* the start of its function, or the place where it has none */
	uint32_t parent;       /* less than its own number, or PROFILE_NONE */
	uint32_t depth;        /* of a root 0 */
	uint64_t total;        /* samples of the path from the root to here, and on */
	uint64_t self;         /* of these, those that end here: whose stack goes no further */
	bool is_last, is_only; /* of the rows of its parent */
};

/* Each row is followed by all below it, hottest first. */
struct view_tree {
	struct view_tree_row *rows;
	size_t n_rows, cap_rows;
	size_t n_left_out; /* rows there would be besides */
};

/* The word that --tree takes, and back: -EINVAL where there is no such order. */
const char *view_tree_name(enum view_tree_first first);
int view_tree_parse(enum view_tree_first *ret, const char *name);

/* The @n hottest rows of the sealed @profile; all, if it is 0. 0 or -ENOMEM. */
int view_tree(struct view_tree **ret, const struct profile *profile, enum view_tree_first first,
	      size_t n);
struct view_tree *view_tree_free(struct view_tree *tree);
DEFINE_CLEANUP(struct view_tree *, view_tree_free);

/* Keeps the rows that are @wanted[], which is used up, and those above and below them. 0 or
 * -ENOMEM. */
int view_tree_keep(struct view_tree *tree, bool *wanted);
