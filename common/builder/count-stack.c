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

/* The hash of each frame from @i up to @n depends on no search: their slots are asked for at once,
 * and then their nodes. */
static void prefetch_frames(const struct builder *b, uint64_t below, size_t i, size_t n)
{
	uint64_t hash = below;

	for (size_t k = i; k < n; k++) {
		hash = path_hash(hash, frame_place(b, k), 0);
		path_tree_prefetch(&b->stacks, hash);
	}
	hash = below;
	for (size_t k = i; k < n; k++) {
		hash = path_hash(hash, frame_place(b, k), 0);
		path_tree_prefetch_node(&b->stacks, hash);
	}
}

/* Goes from frame *@i up to frame @n, to nodes found or made. 0, -ENOSPC or -ENOMEM. */
static int find_frames(struct builder *b, struct path *path, size_t i, size_t n)
{
	struct stitched_call *callers = b->callers.callers;
	struct path_tree *tree = &b->stacks;

	prefetch_frames(b, path->hash, i, n);
	for (; i < n; i++) {
		int r = path_tree_get(tree, path, frame_place(b, i), 0, stack_missed(tree));

		if (r < 0)
			return r;
		if (i < b->callers.n_callers) {
			callers[i].mark.hash = path->hash;
			callers[i].mark.node = path->node;
		}
	}
	return 0;
}

/* The first @n frames, found or made from the outermost on. 0, -ENOSPC or -ENOMEM. */
static int find_stack(struct builder *b, uint32_t context, size_t n, struct path *ret)
{
	size_t i = count_marked(b, context);

	*ret = path_begin(context);
	if (i > 0) {
		ret->hash = b->callers.callers[i - 1].mark.hash;
		ret->node = b->callers.callers[i - 1].mark.node;
	}
	return find_frames(b, ret, i, n);
}

uint64_t count_stack_leaf(const struct builder *b)
{
	return frame_place(b, count_stack_depth(b) - 1);
}

bool count_stack_may_wait(const struct builder *b)
{
	return b->stacks.n_nodes + STACK_QUEUE_MAX_NODES + count_stack_depth(b) <= b->stacks.limit;
}

static int make_room_for_stack(struct builder *b)
{
	struct path_tree *tree = &b->stacks;

	if (stack_queue_flush(&b->stack_queue, tree) < 0)
		return -ENOMEM;
	if (tree->n_nodes + count_stack_depth(b) <= tree->limit || b->stacks_are_full)
		return 0;
	if (stack_prune_half(tree) < 0)
		return -ENOMEM;
	b->n_stack_trees++;
	b->stacks_are_full = tree->n_nodes > tree->limit / 4 * 3;
	return 0;
}

/* The callers have their nodes; what is above them waits. 0 or -ENOMEM. */
static int put_stack(struct builder *b, const struct path *callers, uint64_t weight)
{
	struct waiting_stack stack = {
		.callers = *callers,
		.n_frames = (uint32_t)b->stack.n,
		.n_stitched = (uint32_t)b->stack.n_stitched,
		.weight = weight,
	};

	for (size_t i = 0; i < b->stack.n; i++)
		stack.frames[i] = b->stack.frames[b->stack.n - 1 - i].place;
	return stack_queue_put(&b->stack_queue, &b->stacks, &stack);
}

int count_stack(struct builder *b, uint32_t context, const struct sample *s, bool first)
{
	bool waits = count_stack_may_wait(b);
	size_t n = count_stack_depth(b);
	struct path path;
	int r;

	if (_unlikely_(!waits) && make_room_for_stack(b) < 0)
		return -ENOMEM;
	if (n == 0)
		return 1;
	waits = waits && b->stack.n > 0 && b->stack.n <= STACK_QUEUE_FRAMES;
	r = find_stack(b, context, waits ? b->callers.n_callers : n, &path);
	if (r == -ENOSPC) {
		b->counters.stacks_pruned++;
		return 1;
	}
	if (r < 0)
		return r;
	b->stacks.n_paths++;
	if (waits)
		return put_stack(b, &path, first ? s->period : 0);
	stack_queue_count_leaf(&b->stacks.nodes[path.node], first ? s->period : 0,
			       (uint32_t)b->stack.n_stitched);
	return 0;
}
