/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trees laid over each other: a profile has a tree for each process, and a view adds up what is
 * reached by the same path. A node is known by its parent and what it is: one place, or the two of
 * a branch.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

struct tree_merge {
	struct tree_merge_node *nodes;
	uint32_t n;
};

/* Frees the nodes. An merge of zeros is an empty one. */
void tree_merge_done(struct tree_merge *merge);

/*
 * The number of the node below @parent, PROFILE_NONE for a root: from 0 on, in the order in which
 * they were first asked for. A node that is one place has it as @from and as @to. Or -ENOMEM.
 */
int64_t tree_merge_find(struct tree_merge *merge, uint32_t parent, struct location from,
			struct location to);
