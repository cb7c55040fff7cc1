/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/stack-prune.h"

#include <errno.h>
#include <stdlib.h>

#include "common/builder/path-prune.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

static void add(struct path_node *to, const struct path_node *node, bool pruned)
{
	to->amount += node->amount;
	to->hits += node->hits;
	to->pruned += pruned ? node->hits : node->pruned;
	path_node_add_stitched(to, node->stitched);
}

/* Copies the tree: all frequent nodes, and those rare ones where samples were taken, each below its
 * nearest frequent ancestor. */
static int copy(struct path_tree *to, const struct path_tree *from, const uint32_t *weights,
		uint32_t rare)
{
	_cleanup_free_ uint32_t *frequent = calloc(from->n_nodes, sizeof(*frequent));

	if (!frequent)
		return -ENOMEM;
	to->rarest = MAX(from->rarest, rare);
	to->n_paths = from->n_paths;
	for (size_t i = 1; i < from->n_nodes; i++) {
		const struct path_node *node = &from->nodes[i];
		bool is_frequent = weights[i] > rare;
		uint32_t parent = frequent[node->parent];
		struct path path =
			parent == PATH_ROOT ? path_begin(node->context) : path_at(to, parent);
		int r;

		frequent[i] = parent;
		if (!is_frequent && node->hits == 0)
			continue;
		r = path_tree_get(to, &path, node->from, 0,
				  is_frequent ? node->missed : to->rarest);
		if (r < 0)
			return r;
		add(&to->nodes[path.node], node, weights[node->parent] <= rare);
		if (is_frequent)
			frequent[i] = path.node;
	}
	return 0;
}

static uint32_t find_largest(const struct path_tree *tree, const uint32_t *weights)
{
	uint32_t weight = tree->rarest;

	for (size_t i = 1; i < tree->n_nodes; i++)
		weight = MAX(weight, weights[i]);
	return weight;
}

int stack_prune_half(struct path_tree *tree)
{
	_cleanup_free_ uint32_t *weights = path_weigh(tree);
	uint32_t rare, more = 1, most;
	int r;

	if (!weights)
		return -ENOMEM;
	most = find_largest(tree, weights);
	for (;; more *= 2) {
		struct path_tree copied;

		rare = most - tree->rarest > more ? tree->rarest + more : most;
		r = path_tree_init(&copied, tree->max_nodes);
		if (r >= 0)
			r = copy(&copied, tree, weights, rare);
		if (r >= 0 && (rare >= most || copied.n_nodes <= tree->limit / 2)) {
			copied.limit = tree->limit;
			path_tree_done(tree);
			*tree = copied;
			return 0;
		}
		path_tree_done(&copied);
		if (r < 0)
			return r;
	}
}
