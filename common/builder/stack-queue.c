/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/stack-queue.h"

#include "common/builder/stack-prune.h"

void stack_queue_count_leaf(struct path_node *leaf, uint64_t weight, uint32_t n_stitched)
{
	leaf->hits++;
	leaf->amount += weight;
	path_node_add_stitched(leaf, n_stitched);
}

static void prefetch_slots(const struct waiting_stack *s, const struct path_tree *tree)
{
	uint64_t hash = s->callers.hash;

	for (uint32_t i = 0; i < s->n_frames; i++) {
		hash = path_hash(hash, s->frames[i], 0);
		path_tree_prefetch(tree, hash);
	}
}

static void prefetch_nodes(const struct waiting_stack *s, const struct path_tree *tree)
{
	uint64_t hash = s->callers.hash;

	for (uint32_t i = 0; i < s->n_frames; i++) {
		hash = path_hash(hash, s->frames[i], 0);
		path_tree_prefetch_node(tree, hash);
	}
}

static int count(struct waiting_stack *s, struct path_tree *tree)
{
	struct path path = s->callers;
	int r;

	for (uint32_t i = 0; i < s->n_frames; i++) {
		r = path_tree_get(tree, &path, s->frames[i], 0, stack_missed(tree));
		if (r < 0)
			return r;
	}
	if (s->n_frames > 0)
		stack_queue_count_leaf(&tree->nodes[path.node], s->weight, s->n_stitched);
	s->n_frames = 0;
	return 0;
}

/* Counts the oldest; the next one may take its place. */
static int advance(struct stack_queue *q, struct path_tree *tree)
{
	unsigned int oldest = (q->newest + 1) % STACK_QUEUE_WAITING;
	int r = count(&q->stacks[oldest], tree);

	if (r < 0)
		return r;
	prefetch_nodes(&q->stacks[q->newest], tree);
	q->newest = oldest;
	return 0;
}

int stack_queue_put(struct stack_queue *queue, struct path_tree *tree,
		    const struct waiting_stack *stack)
{
	int r = advance(queue, tree);

	if (r < 0)
		return r;
	queue->stacks[queue->newest] = *stack;
	prefetch_slots(stack, tree);
	return 0;
}

int stack_queue_flush(struct stack_queue *queue, struct path_tree *tree)
{
	int r = 0;

	for (unsigned int i = 0; i < STACK_QUEUE_WAITING && r >= 0; i++)
		r = advance(queue, tree);
	return r;
}
