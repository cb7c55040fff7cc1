/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes room in the tree of stacks. The samples of a function itself must stay exact, and so must
 * the totals of frequent callers. So a rare stack loses the frames between the two: it is counted
 * as if its last frequent caller had called its leaf.
 */
#pragma once

#include <stdint.h>

#include "common/builder/path-tree.h"

/* The most samples that a new node of the tree of stacks can have missed. */
static inline uint32_t stack_missed(const struct path_tree *tree)
{
	return tree->rarest;
}

/* Prunes until at most half of the nodes are left; or as many nodes as there are distinct leaves,
 * if these are more. 0 or -ENOMEM. */
int stack_prune_half(struct path_tree *tree);
