/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The paths of one window, call stacks or streams, as a tree of raw addresses in bounded memory: a
 * path is its parent, one step shorter, and one step more. Nodes are found by (context, parent,
 * step), and lie in the index by a hash of the whole path: where to look for each next node does
 * not hang on having found the one before, so that a walk does not wait for memory at every step.
 *
 * Where there are more paths than room, light ones go (path-fold.h, stack-fold.h), and how much may
 * be missing of any one is known at all times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_ROOT 0u /* the parent of all; it is no path itself */

/* Of a stack @from is the frame's address and @to is 0; of a stream they are the branch. */
struct path_node {
	uint64_t from, to;
	uint64_t amount; /* of a stack the weight of its samples; of a stream its cycles, all below
			    included */
	uint64_t hash;   /* of the whole path */
	uint32_t stitched; /* of a stack, frames from earlier samples, of all its hits; at its most:
			      or more */
	uint32_t parent;   /* an index less than its own */
	uint32_t context;
	uint32_t hits;   /* samples counted here */
	uint32_t pruned; /* of these, those whose whole path is another, which was too light */
	uint32_t missed; /* samples of it or what is below that were counted elsewhere, at most */
};

static inline void path_node_add_stitched(struct path_node *node, uint32_t n)
{
	if (__builtin_add_overflow(node->stitched, n, &node->stitched))
		node->stitched = UINT32_MAX;
}

struct path_tree {
	struct path_node *nodes; /* the first is PATH_ROOT */
	size_t n_nodes, max_nodes;
	uint32_t *slots; /* 1 << bits of them: an index of a node, above it a piece of its hash; 0:
			    free */
	unsigned int bits;
	uint64_t
		n_paths; /* added; not more than PATH_TREE_MAX_PATHS, which the owner looks after */
	uint32_t rarest; /* nothing that was pruned can have had more samples than this */
};

#define PATH_TREE_MAX_PATHS (UINT32_MAX / 2)
#define PATH_INDEX_BITS     22
#define PATH_INDEX_MASK     ((1u << PATH_INDEX_BITS) - 1)
#define PATH_TREE_MAX_NODES (1u << PATH_INDEX_BITS)

/* @max_nodes is at least 2; more than PATH_TREE_MAX_NODES are not held. */
int path_tree_init(struct path_tree *tree, size_t max_nodes);
void path_tree_done(struct path_tree *tree);
/* Empty again, and its memory given back. 0, or -ENOMEM: then it can only be done with. */
int path_tree_reset(struct path_tree *tree);

/* Where a walk down the tree has got. */
struct path {
	uint64_t hash;
	uint32_t context;
	uint32_t node;
};

/* The hash of the path that has one step more than one of hash @path. */
static inline uint64_t path_hash(uint64_t path, uint64_t from, uint64_t to)
{
	return (path + from * 0xbf58476d1ce4e5b9ull + to * 0x94d049bb133111ebull) *
	       0x9e3779b97f4a7c15ull;
}

/* Before the first step. */
static inline struct path path_begin(uint32_t context)
{
	return (struct path){ .hash = ((uint64_t)context + 1) * 0xd6e8feb86659fd93ull,
			      .context = context,
			      .node = PATH_ROOT };
}

/* At @node, which is not the root. */
static inline struct path path_at(const struct path_tree *tree, uint32_t node)
{
	return (struct path){ .hash = tree->nodes[node].hash,
			      .context = tree->nodes[node].context,
			      .node = node };
}

/* The upper bits say where among the slots; of those below, as many as a slot has room for. */
static inline uint32_t path_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 8) & ~PATH_INDEX_MASK;
}

static inline size_t path_place(const struct path_tree *tree, uint64_t hash)
{
	return hash >> (64 - tree->bits);
}

/* Asks memory for the slot of the path of that @hash, which is looked for soon. */
static inline void path_tree_prefetch(const struct path_tree *tree, uint64_t hash)
{
	__builtin_prefetch(&tree->slots[path_place(tree, hash)]);
}

/* And then for the node, which is probably the path's if there is one. */
static inline void path_tree_prefetch_node(const struct path_tree *tree, uint64_t hash)
{
	uint32_t slot = tree->slots[path_place(tree, hash)];

	__builtin_prefetch(&tree->nodes[slot & PATH_INDEX_MASK], 1);
}

/* The node one step below @path, where paths have that @hash: its index; 0 where there is none. */
static inline uint32_t path_tree_find(const struct path_tree *tree, uint64_t hash,
				      const struct path *path, uint64_t from, uint64_t to)
{
	size_t mask = ((size_t)1 << tree->bits) - 1, k = path_place(tree, hash);
	uint32_t slot;

	for (; (slot = tree->slots[k]) != 0; k = (k + 1) & mask) {
		uint32_t i = slot & PATH_INDEX_MASK;
		const struct path_node *node = &tree->nodes[i];

		if ((slot ^ path_tag(hash)) <= PATH_INDEX_MASK && node->from == from &&
		    node->to == to && node->parent == path->node && node->context == path->context)
			return i;
	}
	return 0;
}

/*
 * Goes one step on from *@path, to a node found or made. One that is made may have missed so many
 * samples before. 0; -ENOSPC if the tree is full, -ENOMEM.
 */
int path_tree_get(struct path_tree *tree, struct path *path, uint64_t from, uint64_t to,
		  uint32_t missed);

/* The same, to a node that is known not to be there. */
int path_tree_add(struct path_tree *tree, struct path *path, uint64_t from, uint64_t to,
		  uint32_t missed);

/* Finds all nodes anew, after they were moved. */
void path_tree_index(struct path_tree *tree);
