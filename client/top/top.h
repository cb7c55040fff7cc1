/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `branchctl top` shows, before it is written: the rows of one view, of whatever kind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/source/profile-source.h"
#include "client/stack/stack.h"
#include "client/stack/tree.h"
#include "client/stream/line-stream.h"
#include "client/stream/stream.h"
#include "client/top/shares.h"
#include "client/top/trends.h"
#include "client/view/branch-class.h"
#include "client/view/place.h"
#include "client/view/view.h"

enum top_level { TOP_LEVEL_ANY, TOP_LEVEL_USER, TOP_LEVEL_KERNEL };

struct top_settings {
	enum view_by by;
	enum view_by owner;        /* of functions and objects: a row for each owner; see share.h */
	enum view_tree_first tree; /* of stacks */
	size_t n_rows;             /* 0: all */
	bool every_frame;          /* of stacks: recursion is not folded */
	bool grouped;              /* of stacks: those that are shown, by their leaf functions */
	bool verbose;              /* of stacks: sizes of functions, whole paths */
	uint32_t depth;            /* of streams: see stream-tree.h */
	uint32_t branch_kinds;     /* of branches: a bit for each enum branch_kind, 0: all */
	bool mispredicted;         /* of branches: only mispredicted ones; of shares: theirs */
	enum top_level level;      /* of branches: of the code that they lead to */
	bool inlined;              /* with inlined calls and source lines */
};

struct top {
	enum view_by by, owner;
	const struct profile_source *source;
	struct places places;
	uint64_t block_cycles; /* of all blocks of the source */
	size_t n_rows;
	size_t first, n_shown; /* the rows that are shown */
	bool searched;         /* only rows with the words of top_search() are left */

	/* one of them, by the view */
	struct shares *shares;
	const struct trends *trends; /* of them, for a column; borrowed, or NULL */
	struct view_stacks *stacks;
	bool verbose;
	struct view_tree *tree;          /* of stacks, instead */
	enum view_tree_first tree_first; /* its order */
	struct view_streams *streams;
	struct view_line_streams *line_streams; /* instead, unless in full */
	struct profile_branch *branches;
	struct profile_block *blocks;

	uint64_t n_taken;           /* of branches: how often all of them were taken, 100 % */
	struct branch_class *class; /* of branches */
	bool mispredicted;          /* only mispredicted ones, or shares that have such */
	uint64_t n_mispredicted;    /* of shares: of all branches, 100 % */
	uint32_t kinds;             /* only these: a bit for each enum branch_kind; 0: all */
	enum top_level level;       /* only those that lead there */
	uint64_t n_unclassified;    /* how often branches of unknown kind were taken */
};

/* Borrows @source. 0 or -ENOMEM. */
int top_new(struct top **ret, const struct profile_source *source,
	    const struct top_settings *settings);
struct top *top_free(struct top *top);
DEFINE_CLEANUP(struct top *, top_free);

/*
 * Shows only rows with at least @percent of the samples: of functions, objects and the like what
 * they are sorted by, their total if @by_total, else their self samples, or their share of the
 * mispredictions; of stacks those of the function in which they end. Other views stay as they are.
 */
void top_limit(struct top *top, double percent, bool by_total);

/* Writes what the user should know beside the result, a line each. */
void top_say(const struct top *top, FILE *f);

/* The number of rows that are not shown. */
size_t top_n_omitted(const struct top *top);
