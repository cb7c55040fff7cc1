/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/path-prune.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

uint32_t path_prune_error(const struct path_tree *tree)
{
	uint32_t error = 0;

	for (size_t i = 0; i < tree->n_nodes; i++)
		error = MAX(error, path_missed_below(tree, &tree->nodes[i]));
	return error;
}

/* A node may seem to have had more than its parent, as it may have missed more. */
uint32_t *path_weigh(const struct path_tree *tree)
{
	uint32_t *weights = calloc(tree->n_nodes, sizeof(*weights));

	if (!weights)
		return NULL;
	for (size_t i = tree->n_nodes; i-- > 1;) {
		weights[i] += tree->nodes[i].hits;
		weights[tree->nodes[i].parent] += weights[i];
	}
	weights[PATH_ROOT] = UINT32_MAX;
	for (size_t i = 1; i < tree->n_nodes; i++)
		weights[i] =
			MIN(weights[i] + tree->nodes[i].missed, weights[tree->nodes[i].parent]);
	return weights;
}

static void prune_into(struct path_node *parent, const struct path_node *node)
{
	parent->hits += node->hits;
	parent->pruned += node->hits;
}

/*
 * Nodes that are left move together in their order, so that parents stay before what is below them.
 */
static int prune(struct path_tree *tree, uint32_t *weights, uint32_t rare)
{
	uint32_t *moved =
		weights; /* new index of each node done, or of the node it was pruned into */
	size_t n = 1;

	moved[PATH_ROOT] = PATH_ROOT;
	for (size_t i = 1; i < tree->n_nodes; i++) {
		struct path_node node = tree->nodes[i];

		node.parent = moved[node.parent];
		if (weights[i] <= rare) {
			prune_into(&tree->nodes[node.parent], &node);
			moved[i] = node.parent;
			continue;
		}
		tree->nodes[n] = node;
		moved[i] = (uint32_t)n++;
	}
	tree->n_nodes = n;
	tree->rarest = MAX(tree->rarest, rare);
	path_tree_index(tree);
	return 0;
}

int path_prune(struct path_tree *tree, uint32_t rare)
{
	_cleanup_free_ uint32_t *weights = path_weigh(tree);

	return weights ? prune(tree, weights, rare) : -ENOMEM;
}

static size_t count_above(const uint32_t *weights, size_t n, uint32_t rare)
{
	size_t n_above = 0;

	for (size_t i = 0; i < n; i++)
		n_above += weights[i] > rare;
	return n_above;
}

/* The least number that at most half of the nodes exceed. It is mostly little more than the last
 * time: so it is searched in steps that double, and then between the last two. */
static uint32_t find_middle(const struct path_tree *tree, const uint32_t *weights)
{
	size_t half = MAX(tree->n_nodes / 2, (size_t)1);
	uint32_t low = MAX(tree->rarest, 1u), high = low, step = 1;

	while (count_above(weights, tree->n_nodes, high) > half) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (count_above(weights, tree->n_nodes, middle) > half)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int path_prune_half(struct path_tree *tree)
{
	_cleanup_free_ uint32_t *weights = path_weigh(tree);

	return weights ? prune(tree, weights, find_middle(tree, weights)) : -ENOMEM;
}
