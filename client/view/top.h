/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `branchctl top` shows, before it is written: the rows of one view, of whatever kind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/source/profile-source.h"
#include "client/view/branch-class.h"
#include "client/view/place.h"
#include "client/view/shares.h"
#include "client/view/stack.h"
#include "client/view/stream.h"
#include "client/view/tree.h"
#include "client/view/view.h"

/* Which view of a source, and what of it. */
struct top_settings {
	enum view_by by;
	enum view_tree_first tree; /* of stacks */
	size_t n_rows;             /* 0: all */
	uint32_t branch_kinds;     /* of branches: a bit for each enum branch_kind, 0: all */
	bool mispredicted;         /* of branches: only those that ever were */
	bool inlined;              /* with inlined calls and source lines */
};

struct top {
	enum view_by by;
	const struct profile_source *source;
	struct places places;
	uint64_t block_cycles; /* of all of the source: what shares of cycles are shares of */
	size_t n_rows;         /* there are, and of these: */
	size_t first, n_shown; /* the number of the first of them, and how many */

	/* one of these, by the view */
	struct shares *shares;
	struct view_stacks *stacks;
	struct view_tree *tree;          /* of stacks, instead */
	enum view_tree_first tree_first; /* its order */
	struct view_streams *streams;
	struct profile_branch *branches;
	struct profile_block *blocks;

	struct branch_class *class; /* of branches */
	bool mispredicted;          /* those alone are wanted */
	uint32_t kinds;             /* and these; 0: all */
	uint64_t n_unclassified;    /* taken, and left out since their kind is not known */
};

/* The view of @source that @settings ask for. 0 or -ENOMEM. */
int top_new(struct top **ret, const struct profile_source *source,
	    const struct top_settings *settings);
struct top *top_free(struct top *top);
DEFINE_CLEANUP(struct top *, top_free);

/* What the user should know beside the result, a line each. */
void top_say(const struct top *top, FILE *f);

/* How many rows the view has besides those shown. */
size_t top_n_omitted(const struct top *top);

/* @part of @all in percent; 0 where there is nothing. */
double top_percent(uint64_t part, uint64_t all);
