/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes room in the tree of streams: prunes rare nodes, whose samples go to their parents.
 *
 * Lossy counting (Manku and Motwani, 2002) on a hierarchy (Cormode, Korn, Muthukrishnan and
 * Srivastava, 2003). A node is rare if all samples that it can have had are at most some number:
 * those counted at and below it, and those that it may have missed. A node that comes back can have
 * missed at most that number.
 */
#pragma once

#include <stdint.h>

#include "common/builder/path-tree.h"

/*
 * An upper bound of the samples of a path that goes on from @node and has no node of its own. Since
 * @node exists, such samples were counted there; an earlier node of the path was rare when it was
 * pruned. One more sample may have ended at @node for want of room, see
 * stream_queue_put() in stream.h.
 */
static inline uint32_t path_missed_below(const struct path_tree *tree, const struct path_node *node)
{
	uint32_t ever = node->missed + node->pruned;
	uint32_t since = node->missed + 1 > tree->rarest ? node->missed + 1 : tree->rarest;

	return ever < since ? ever : since;
}

/* The most samples that each node can have had, UINT32_MAX for the root; on the heap, or NULL. No
 * node has had more than its parent. */
uint32_t *path_weigh(const struct path_tree *tree);

/* The most samples that any one path may lack. */
uint32_t path_prune_error(const struct path_tree *tree);

/* Prunes all nodes of at most @rare samples. 0 or -ENOMEM. */
int path_prune(struct path_tree *tree, uint32_t rare);

/* Prunes the rarest nodes, until at most half of all are left. 0 or -ENOMEM. */
int path_prune_half(struct path_tree *tree);
