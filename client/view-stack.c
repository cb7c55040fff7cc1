/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile's tree has a branch of its own for each process; here the trees are laid over each
 * other: a table from (parent, place) to node for the callers, one more for the leaves.
 */
#include "client/view-stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct node_key {
	uint64_t offset;
	uint32_t object;
	uint32_t parent;
};

struct node {
	struct node_key key;
	uint32_t number;
	UT_hash_handle hh;
};

static void nodes_done(struct node **nodes)
{
	struct node *node, *next;

	HASH_ITER(hh, *nodes, node, next) {
		HASH_DEL(*nodes, node);
		free(node);
	}
}

/* The number of the node of that key: @next where it is new. Or -ENOMEM. */
static int64_t nodes_find(struct node **nodes, struct location at, uint32_t parent, size_t next)
{
	struct node_key key = { at.offset, at.object, parent };
	struct node *node;

	HASH_FIND(hh, *nodes, &key, sizeof(key), node);
	if (node)
		return node->number;
	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->key = key;
	node->number = (uint32_t)next;
	HASH_ADD(hh, *nodes, key, sizeof(key), node);
	if (!node->hh.tbl) {
		free(node);
		return -ENOMEM;
	}
	return node->number;
}

struct view_stacks *view_stacks_free(struct view_stacks *stacks)
{
	if (!stacks)
		return NULL;
	free(stacks->rows);
	free(stacks->callers);
	free(stacks);
	return NULL;
}

static int64_t add_caller(struct view_stacks *stacks, struct node **nodes, struct location at,
			  uint32_t parent)
{
	int64_t number = nodes_find(nodes, at, parent, stacks->n_callers);

	if (number < 0 || (size_t)number < stacks->n_callers)
		return number;
	if (ARRAY_RESERVE(&stacks->callers, &stacks->cap_callers, stacks->n_callers + 1) < 0)
		return -ENOMEM;
	stacks->callers[stacks->n_callers++] = (struct view_stack_caller){ at, parent };
	return number;
}

static int add_row(struct view_stacks *stacks, struct node **nodes, struct location leaf,
		   uint32_t caller, const struct profile_stack *stack)
{
	int64_t number = nodes_find(nodes, leaf, caller, stacks->n_rows);

	if (number < 0)
		return (int)number;
	if ((size_t)number == stacks->n_rows) {
		if (ARRAY_RESERVE(&stacks->rows, &stacks->cap_rows, stacks->n_rows + 1) < 0)
			return -ENOMEM;
		stacks->rows[stacks->n_rows++] = (struct view_stack){ leaf, caller, 0, 0 };
	}
	stacks->rows[number].samples += stack->samples;
	stacks->rows[number].stitched += stack->stitched;
	return 0;
}

static struct location leaf_of(const struct profile *profile, struct location at)
{
	const struct profile_function *function = profile_find_function(profile, at);

	return function ? (struct location){ at.object, function->start } : at;
}

static void mark_callers(const struct profile *profile, bool *is_caller)
{
	for (size_t i = 0; i < profile->n_stacks; i++)
		if (profile->stacks[i].parent != PROFILE_NONE)
			is_caller[profile->stacks[i].parent] = true;
}

static int lay_over(struct view_stacks *stacks, const struct profile *profile,
		    const bool *is_caller, uint32_t *merged)
{
	_cleanup_(nodes_done) struct node *callers = NULL;
	_cleanup_(nodes_done) struct node *leaves = NULL;
	int64_t number;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		struct location at = profile_place_frame(profile, stack->frame);
		uint32_t parent =
			stack->parent == PROFILE_NONE ? PROFILE_NONE : merged[stack->parent];

		if (is_caller[i]) {
			number = add_caller(stacks, &callers, at, parent);
			if (number < 0)
				return (int)number;
			merged[i] = (uint32_t)number;
		}
		if (stack->samples > 0)
			r = add_row(stacks, &leaves, leaf_of(profile, at), parent, stack);
	}
	return r;
}

static int compare_rows(const void *p, const void *q)
{
	const struct view_stack *a = p, *b = q;
	int r;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	r = view_compare_locations(a->leaf, b->leaf);
	return r ? r : (a->caller > b->caller) - (a->caller < b->caller);
}

int view_stacks(struct view_stacks **ret, const struct profile *profile)
{
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = calloc(1, sizeof(*stacks));
	_cleanup_free_ bool *is_caller = calloc(profile->n_stacks + 1, sizeof(*is_caller));
	_cleanup_free_ uint32_t *merged = calloc(profile->n_stacks + 1, sizeof(*merged));
	int r;

	if (!stacks || !is_caller || !merged)
		return -ENOMEM;
	mark_callers(profile, is_caller);
	r = lay_over(stacks, profile, is_caller, merged);
	if (r < 0)
		return r;
	if (stacks->n_rows > 0)
		qsort(stacks->rows, stacks->n_rows, sizeof(*stacks->rows), compare_rows);
	*ret = TAKE_PTR(stacks);
	return 0;
}
