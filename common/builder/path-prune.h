/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making room in the tree of streams: what is light is pruned into what is heavy.
 *
 * Lossy counting (Manku and Motwani, 2002) on a hierarchy (Cormode, Korn, Muthukrishnan and
 * Srivastava, 2003). A node is light if all the samples that it can have had, those counted at and
 * below it and those missed of it, are not more than some number. A node that comes back can have
 * missed so many, not more.
 */
#pragma once

#include <stdint.h>

#include "common/builder/path-tree.h"

/*
 * How many samples a path through @node and on, which has no node, may have: those that went on
 * from @node are counted there, if ever since it is there; and such a node, if ever there was one,
 * was light when it went. One sample may have ended here for want of room to go on, see
 * stream_queue_put(), stream.h.
 */
static inline uint32_t path_missed_below(const struct path_tree *tree, const struct path_node *node)
{
	uint32_t ever = node->missed + node->pruned;
	uint32_t since = node->missed + 1 > tree->rarest ? node->missed + 1 : tree->rarest;

	return ever < since ? ever : since;
}

/*
 * How many samples each node can have had, UINT32_MAX for the root; on the heap, or NULL. What is
 * below a node has not had more than it.
 */
uint32_t *path_weigh(const struct path_tree *tree);

/* Samples that any one path may lack, at most. */
uint32_t path_prune_error(const struct path_tree *tree);

/* Folds each node of at most @light samples into its parent, until none is left. 0 or -ENOMEM. */
int path_prune(struct path_tree *tree, uint32_t light);

/* Folds the rarest, as many as it takes to leave not more than half of the nodes. 0 or -ENOMEM.
 */
int path_prune_half(struct path_tree *tree);
