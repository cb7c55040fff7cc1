/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/path-tree.h"

#include <errno.h>
#include <string.h>

#include "common/util/macro.h"
#include "common/util/pages.h"

#define MIN_BITS 12

/* What stays in memory from one window to the next: to fault pages in anew costs more than to use
 * them. */
#define KEPT_BITS  16
#define KEPT_BYTES (2ul << 20)

#define ROUND (64ul << 10) /* a multiple of the page size of each machine */

static uint32_t *allocate_slots(unsigned int bits)
{
	return pages_new(sizeof(uint32_t) << bits);
}

int path_tree_init(struct path_tree *tree, size_t max_nodes)
{
	*tree = (struct path_tree){ .bits = MIN_BITS, .n_nodes = 1 };
	tree->max_nodes = MIN(max_nodes, (size_t)PATH_TREE_MAX_NODES);
	tree->limit = tree->max_nodes;
	tree->nodes = pages_new(tree->max_nodes * sizeof(*tree->nodes));
	tree->slots = allocate_slots(tree->bits);
	if (tree->nodes && tree->slots)
		return 0;
	path_tree_done(tree);
	return -ENOMEM;
}

void path_tree_done(struct path_tree *tree)
{
	pages_free(tree->nodes, tree->max_nodes * sizeof(*tree->nodes));
	pages_free(tree->slots, sizeof(*tree->slots) << tree->bits);
	tree->nodes = NULL;
	tree->slots = NULL;
}

/* Puts node @i into the first free slot from the place of its hash on. */
static void index_node(struct path_tree *t, uint64_t hash, size_t i)
{
	size_t mask = ((size_t)1 << t->bits) - 1, k = path_place(t, hash);

	while (t->slots[k])
		k = (k + 1) & mask;
	t->slots[k] = path_tag(hash) | (uint32_t)i;
}

static void index_all(struct path_tree *tree)
{
	for (size_t i = 1; i < tree->n_nodes; i++)
		index_node(tree, tree->nodes[i].hash, i);
}

void path_tree_index(struct path_tree *tree)
{
	memset(tree->slots, 0, sizeof(*tree->slots) << tree->bits);
	index_all(tree);
}

static int grow(struct path_tree *tree)
{
	uint32_t *slots = allocate_slots(tree->bits + 1);

	if (!slots)
		return -ENOMEM;
	pages_free(tree->slots, sizeof(*tree->slots) << tree->bits);
	tree->slots = slots;
	tree->bits++;
	index_all(tree);
	return 0;
}

static int add(struct path_tree *tree, struct path *path, uint64_t hash, uint64_t from, uint64_t to,
	       uint32_t missed)
{
	if (tree->n_nodes >= tree->limit)
		return -ENOSPC;
	/* At most half full. */
	if (tree->n_nodes >= (size_t)1 << (tree->bits - 1) && grow(tree) < 0)
		return -ENOMEM;
	index_node(tree, hash, tree->n_nodes);
	tree->nodes[tree->n_nodes] = (struct path_node){
		.from = from,
		.to = to,
		.parent = path->node,
		.context = path->context,
		.missed = missed,
		.hash = hash,
	};
	path->hash = hash;
	path->node = (uint32_t)tree->n_nodes++;
	return 0;
}

int path_tree_add(struct path_tree *tree, struct path *path, uint64_t from, uint64_t to,
		  uint32_t missed)
{
	return add(tree, path, path_hash(path->hash, from, to), from, to, missed);
}

int path_tree_get(struct path_tree *tree, struct path *path, uint64_t from, uint64_t to,
		  uint32_t missed)
{
	uint64_t hash = path_hash(path->hash, from, to);
	uint32_t found = path_tree_find(tree, hash, path, from, to);

	if (found == 0)
		return add(tree, path, hash, from, to, missed);
	path->hash = hash;
	path->node = found;
	return 0;
}

void path_tree_drop_index(struct path_tree *tree)
{
	if (tree->bits > KEPT_BITS)
		pages_drop(tree->slots, sizeof(*tree->slots) << tree->bits);
}

void path_tree_drop_nodes(struct path_tree *tree, size_t n)
{
	size_t n_bytes = n * sizeof(*tree->nodes) & ~(ROUND - 1);

	if (n_bytes > KEPT_BYTES)
		pages_drop((char *)tree->nodes + KEPT_BYTES, n_bytes - KEPT_BYTES);
}

int path_tree_reset(struct path_tree *tree)
{
	size_t n_bytes = tree->max_nodes * sizeof(*tree->nodes);

	if (tree->bits > KEPT_BITS) {
		uint32_t *slots = allocate_slots(KEPT_BITS);

		if (!slots)
			return -ENOMEM;
		pages_free(tree->slots, sizeof(*slots) << tree->bits);
		tree->slots = slots;
		tree->bits = KEPT_BITS;
	} else {
		memset(tree->slots, 0, sizeof(*tree->slots) << tree->bits);
	}
	if (n_bytes > KEPT_BYTES)
		pages_drop((char *)tree->nodes + KEPT_BYTES, n_bytes - KEPT_BYTES);
	tree->nodes[PATH_ROOT] = (struct path_node){};
	tree->n_nodes = 1;
	tree->n_paths = 0;
	tree->rarest = 0;
	return 0;
}
