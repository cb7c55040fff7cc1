/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stacks on their way into the tree. Mostly their callers are known, and a leaf is searched that
 * was not asked for before: it waits while the next samples are read, and then is in the cache. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/builder/path-tree.h"

#define STACK_QUEUE_FRAMES  4u /* that a stack may have above what is known of it */
#define STACK_QUEUE_WAITING 3u

/* The most nodes that a queue may still add. */
#define STACK_QUEUE_MAX_NODES ((size_t)STACK_QUEUE_FRAMES * STACK_QUEUE_WAITING)

struct waiting_stack {
	struct path callers;
	uint64_t frames[STACK_QUEUE_FRAMES]; /* the outermost first */
	uint32_t n_frames;                   /* 0: no stack */
	uint32_t n_stitched;                 /* of its frames, those from earlier samples */
	uint64_t weight;
};

/* Each stack moves the others a stage on, as in stream.h. Zeroed it is empty. */
struct stack_queue {
	struct waiting_stack stacks[STACK_QUEUE_WAITING];
	unsigned int newest;
};

/* Counts the stack, soon: the tree has room for it and all that wait. 0 or -ENOMEM. */
int stack_queue_put(struct stack_queue *queue, struct path_tree *tree,
		    const struct waiting_stack *stack);

/* Counts all that wait. 0; or -ENOMEM, and some wait still. */
int stack_queue_flush(struct stack_queue *queue, struct path_tree *tree);

/* Counts a sample at @leaf. */
void stack_queue_count_leaf(struct path_node *leaf, uint64_t weight, uint32_t n_stitched);
