/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The paths of one window, call stacks or streams, as a tree of raw addresses in bounded memory: a
 * path is its parent plus one step. Nodes are found by (context, parent, step). Their place in the
 * index is a hash of the whole path, so that the search for a node does not depend on having found
 * the one before, and does not wait for memory at each step.
 *
 * When the tree is full, rare paths are pruned (path-prune.h, stack-prune.h). The most samples that
 * any path may lack are known at all times.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_ROOT 0u /* the parent of all; no path itself */

/* In a stack, @from is the address of the frame and @to is 0; in a stream both are the branch. */
struct path_node {
	uint64_t from, to;
	/* In a stack the weight of its samples; in a stream its cycles, including those of all
	 * below it. */
	uint64_t amount;
	uint64_t hash; /* of the whole path */
	/* In a stack, frames from earlier samples, of all its hits; saturates. */
	uint32_t stitched;
	uint32_t parent; /* an index below its own */
	uint32_t context;
	uint32_t hits;   /* samples counted here */
	uint32_t pruned; /* of @hits, those whose whole path was pruned */
	/* The most samples of it, or of what is below it, that were counted elsewhere. */
	uint32_t missed;
};

static inline void path_node_add_stitched(struct path_node *node, uint32_t n)
{
	if (__builtin_add_overflow(node->stitched, n, &node->stitched))
		node->stitched = UINT32_MAX;
}

struct path_tree {
	struct path_node *nodes; /* the first is PATH_ROOT */
	size_t n_nodes, max_nodes;
	size_t limit; /* no more nodes than this are added; whoever has the tree may lower it */
	/* 1 << bits: the index of a node, and above it a piece of its hash; 0: free. */
	uint32_t *slots;
	unsigned int bits;
	uint64_t n_paths; /* added; the owner keeps it at or below PATH_TREE_MAX_PATHS */
	uint32_t rarest;  /* no node pruned can have had more samples than this */
};

#define PATH_TREE_MAX_PATHS (UINT32_MAX / 2)
#define PATH_INDEX_BITS     22
#define PATH_INDEX_MASK     ((1u << PATH_INDEX_BITS) - 1)
#define PATH_TREE_MAX_NODES (1u << PATH_INDEX_BITS)

/* @max_nodes is at least 2; above PATH_TREE_MAX_NODES it is reduced to that. */
int path_tree_init(struct path_tree *tree, size_t max_nodes);
void path_tree_done(struct path_tree *tree);
/* Empties the tree and frees its memory, but for 2 MiB. 0; or -ENOMEM, and it is as before. */
int path_tree_reset(struct path_tree *tree);
/* Free, of a large tree, the index, and the nodes before @n: until it is reset, nothing is found in
 * it, and only nodes from @n on may be read. */
void path_tree_drop_index(struct path_tree *tree);
void path_tree_drop_nodes(struct path_tree *tree, size_t n);

/* A position in the tree. */
struct path {
	uint64_t hash;
	uint32_t context;
	uint32_t node;
};

/* The hash of the path that goes one step on from the path with hash @path. */
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

/* The upper bits of the hash are the place among the slots; the tag is of the bits below them. */
static inline uint32_t path_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 8) & ~PATH_INDEX_MASK;
}

static inline size_t path_place(const struct path_tree *tree, uint64_t hash)
{
	return hash >> (64 - tree->bits);
}

/* Prefetches the slot of the path with @hash. */
static inline void path_tree_prefetch(const struct path_tree *tree, uint64_t hash)
{
	__builtin_prefetch(&tree->slots[path_place(tree, hash)]);
}

/* Prefetches the node in that slot, which is probably the one of the path. */
static inline void path_tree_prefetch_node(const struct path_tree *tree, uint64_t hash)
{
	uint32_t slot = tree->slots[path_place(tree, hash)];

	__builtin_prefetch(&tree->nodes[slot & PATH_INDEX_MASK], 1);
}

/* The index of the node one step on from @path, whose paths have @hash; 0 where there is none. */
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

/* Goes one step on from *@path, to a node found or made. A new node may have missed up to @missed
 * samples before. 0; -ENOSPC if the tree is full, -ENOMEM. */
int path_tree_get(struct path_tree *tree, struct path *path, uint64_t from, uint64_t to,
		  uint32_t missed);

/* The same, for a node that is known not to exist. */
int path_tree_add(struct path_tree *tree, struct path *path, uint64_t from, uint64_t to,
		  uint32_t missed);

/* Builds the index anew, after nodes were moved. */
void path_tree_index(struct path_tree *tree);
