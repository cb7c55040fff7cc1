/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merges trees: a profile has a tree for each process, and a view sums nodes with the same path.
 * The key of a node is its parent and its location, or the two locations of a branch.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

struct tree_merge {
	struct tree_merge_node *nodes;
	uint32_t n;
};

/* Frees the nodes. An empty merge is all zeroes. */
void tree_merge_done(struct tree_merge *merge);

/*
 * The number of the node below @parent (PROFILE_NONE: of a root), which may be new. Numbers count
 * from 0 on. A node with one location has it as @from and as @to. -ENOMEM.
 */
int64_t tree_merge_find(struct tree_merge *merge, uint32_t parent, struct location from,
			struct location to);
