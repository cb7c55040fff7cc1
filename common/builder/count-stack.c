/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/count-stack.h"

#include <errno.h>

#include "common/builder/stack-prune.h"

/* The number of callers, from the outermost on, that still have their nodes. Marks of another tree
 * or context are void. */
static size_t count_marked(struct builder *b, uint32_t context)
{
	const uint64_t marker = (uint64_t)b->n_stack_trees << 32 | (context + 1);
	struct stitched_call *callers = b->callers.callers;
	size_t n = b->callers.n_callers;

	if (n > 0 && *b->callers.marker != marker) {
		for (size_t i = 0; i < n; i++)
			callers[i].mark.node = 0;
		*b->callers.marker = marker;
	}
	while (n > 0 && callers[n - 1].mark.node == 0)
		n--;
	return n;
}

size_t count_stack_depth(const struct builder *b)
{
	return b->callers.n_callers + b->stack.n;
}

/* The location of frame @i, from the outermost on. */
static uint64_t frame_place(const struct builder *b, size_t i)
{
	size_t n = b->callers.n_callers;

	return i < n ? b->callers.callers[i].from : b->stack.frames[b->stack.n - 1 - (i - n)].place;
}

/* The hash of each frame from @i on depends on no search: their slots are asked for at once, and
 * then their nodes. */
static void prefetch_stack(const struct builder *b, const struct path *path, size_t i)
{
	const size_t n = count_stack_depth(b);
	uint64_t hash = path->hash;

	for (size_t k = i; k < n; k++) {
		hash = path_hash(hash, frame_place(b, k), 0);
		path_tree_prefetch(&b->stacks, hash);
	}
	hash = path->hash;
	for (size_t k = i; k < n; k++) {
		hash = path_hash(hash, frame_place(b, k), 0);
		path_tree_prefetch_node(&b->stacks, hash);
	}
}

/* The node of the leaf, found or made from the outermost frame on; PATH_ROOT where there is no
 * stack; -ENOSPC, -ENOMEM. */
static int64_t find_stack(struct builder *b, uint32_t context)
{
	struct stitched_call *callers = b->callers.callers;
	size_t i = count_marked(b, context), n = count_stack_depth(b);
	struct path_tree *tree = &b->stacks;
	struct path path = path_begin(context);
	int r;

	if (i > 0) {
		path.hash = callers[i - 1].mark.hash;
		path.node = callers[i - 1].mark.node;
	}
	prefetch_stack(b, &path, i);
	for (; i < n; i++) {
		r = path_tree_get(tree, &path, frame_place(b, i), 0, stack_missed(tree));
		if (r < 0)
			return r;
		if (i < b->callers.n_callers) {
			callers[i].mark.hash = path.hash;
			callers[i].mark.node = path.node;
		}
	}
	return path.node;
}

uint64_t count_stack_leaf(const struct builder *b)
{
	return frame_place(b, count_stack_depth(b) - 1);
}

static int make_room_for_stack(struct builder *b)
{
	struct path_tree *tree = &b->stacks;

	if (_likely_(tree->n_nodes + count_stack_depth(b) <= tree->max_nodes) || b->stacks_are_full)
		return 0;
	if (stack_prune_half(tree) < 0)
		return -ENOMEM;
	b->n_stack_trees++;
	b->stacks_are_full = tree->n_nodes > tree->max_nodes / 4 * 3;
	return 0;
}

int count_stack(struct builder *b, uint32_t context, const struct sample *s, bool first)
{
	struct path_node *leaf;
	int64_t node;

	if (make_room_for_stack(b) < 0)
		return -ENOMEM;
	node = find_stack(b, context);
	if (node == PATH_ROOT || node == -ENOSPC) {
		b->counters.stacks_pruned += node == -ENOSPC;
		return 1;
	}
	if (node < 0)
		return (int)node;
	leaf = &b->stacks.nodes[node];
	leaf->hits++;
	leaf->amount += first ? s->period : 0;
	path_node_add_stitched(leaf, (uint32_t)b->stack.n_stitched);
	b->stacks.n_paths++;
	return 0;
}
