/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making room in the tree of stacks. What a function has itself shall stay right, and so shall what
 * the heavy callers have in all: so of a light stack the frames between the two are left out, and
 * it is counted as if the last of its callers that is heavy had called its leaf.
 */
#pragma once

#include <stdint.h>

#include "common/builder/path-tree.h"

/* A new node of the tree of stacks can have missed so many samples. */
static inline uint32_t stack_missed(const struct path_tree *tree)
{
	return tree->rarest;
}

/*
 * Leaves out what it takes to leave not more than half of the nodes; or as many as there are
 * different leaves, where these are more. 0 or -ENOMEM.
 */
int stack_prune_half(struct path_tree *tree);
