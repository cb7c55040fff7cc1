/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/path-tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define MIN_BITS 12

static int add_root(struct path_tree *tree)
{
	tree->n_nodes = 0;
	if (ARRAY_RESERVE(&tree->nodes, &tree->cap_nodes, 1) < 0)
		return -ENOMEM;
	tree->nodes[tree->n_nodes++] = (struct path_node){ 0 };
	return 0;
}

int path_tree_init(struct path_tree *tree, size_t max_nodes)
{
	*tree = (struct path_tree){ .bits = MIN_BITS, .max_nodes = max_nodes };
	tree->slots = calloc((size_t)1 << MIN_BITS, sizeof(*tree->slots));
	return tree->slots ? add_root(tree) : -ENOMEM;
}

void path_tree_done(struct path_tree *tree)
{
	free(tree->slots);
	free(tree->nodes);
}

/* The first free slot from where the path belongs. */
static size_t find_free(const struct path_tree *t, uint64_t hash)
{
	size_t mask = ((size_t)1 << t->bits) - 1, k = hash >> (64 - t->bits);

	while (t->slots[k])
		k = (k + 1) & mask;
	return k;
}

void path_tree_index(struct path_tree *tree)
{
	memset(tree->slots, 0, sizeof(*tree->slots) << tree->bits);
	for (size_t i = 1; i < tree->n_nodes; i++)
		tree->slots[find_free(tree, tree->nodes[i].hash)] = (uint32_t)i;
}

static int grow(struct path_tree *tree)
{
	uint32_t *slots = calloc((size_t)2 << tree->bits, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(tree->slots);
	tree->slots = slots;
	tree->bits++;
	path_tree_index(tree);
	return 0;
}

static uint64_t hash_below(const struct path_tree *tree, uint32_t context, uint32_t parent,
			   uint64_t from, uint64_t to)
{
	uint64_t path = parent == PATH_ROOT ? path_hash_begin(context) : tree->nodes[parent].hash;

	return path_hash(path, from, to);
}

int64_t path_tree_get(struct path_tree *tree, uint32_t context, uint32_t parent, uint64_t from,
		      uint64_t to, uint32_t missed)
{
	uint64_t hash = hash_below(tree, context, parent, from, to);
	uint32_t found = path_tree_find(tree, hash, context, parent, from, to);

	return found ? found : path_tree_add(tree, hash, context, parent, from, to, missed);
}

int64_t path_tree_add(struct path_tree *tree, uint64_t hash, uint32_t context, uint32_t parent,
		      uint64_t from, uint64_t to, uint32_t missed)
{
	if (tree->n_nodes >= tree->max_nodes)
		return -ENOSPC;
	if (ARRAY_RESERVE(&tree->nodes, &tree->cap_nodes, tree->n_nodes + 1) < 0)
		return -ENOMEM;
	/* At most half full. */
	if (tree->n_nodes >= (size_t)1 << (tree->bits - 1) && grow(tree) < 0)
		return -ENOMEM;
	tree->slots[find_free(tree, hash)] = (uint32_t)tree->n_nodes;
	tree->nodes[tree->n_nodes] = (struct path_node){
		.from = from,
		.to = to,
		.parent = parent,
		.context = context,
		.missed = missed,
		.hash = hash,
	};
	return (int64_t)tree->n_nodes++;
}

int path_tree_reset(struct path_tree *tree)
{
	size_t max_nodes = tree->max_nodes;

	path_tree_done(tree);
	return path_tree_init(tree, max_nodes);
}
