/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile has a tree for each process; these are merged: the callers in one merge, the leaves
 * in another.
 */
#include "client/stack/stack.h"

#include <errno.h>
#include <stdlib.h>

#include "client/view/tree-merge.h"
#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

struct view_stacks *view_stacks_free(struct view_stacks *stacks)
{
	if (!stacks)
		return NULL;
	free(stacks->rows);
	free(stacks->callers);
	free(stacks);
	return NULL;
}

static int64_t add_caller(struct view_stacks *stacks, struct tree_merge *merge, struct location at,
			  uint32_t parent)
{
	int64_t number = tree_merge_find(merge, parent, at, at);

	if (number < 0 || (size_t)number < stacks->n_callers)
		return number;
	if (ARRAY_RESERVE(&stacks->callers, &stacks->cap_callers, stacks->n_callers + 1) < 0)
		return -ENOMEM;
	stacks->callers[stacks->n_callers++] = (struct view_stack_caller){ at, parent, { 1, 1 } };
	return number;
}

static int add_row(struct view_stacks *stacks, struct tree_merge *merge, struct location leaf,
		   uint32_t caller, const struct profile_stack *stack)
{
	int64_t number = tree_merge_find(merge, caller, leaf, leaf);

	if (number < 0)
		return (int)number;
	if ((size_t)number == stacks->n_rows) {
		if (ARRAY_RESERVE(&stacks->rows, &stacks->cap_rows, stacks->n_rows + 1) < 0)
			return -ENOMEM;
		stacks->rows[stacks->n_rows++] = (struct view_stack){
			.leaf = leaf,
			.caller = caller,
			.turns = { 1, 1 },
		};
	}
	stacks->rows[number].samples += stack->samples;
	stacks->rows[number].stitched += stack->stitched;
	stacks->rows[number].variance += stack->variance;
	return 0;
}

static void mark_callers(const struct profile *profile, bool *is_caller)
{
	for (size_t i = 0; i < profile->n_stacks; i++)
		if (profile->stacks[i].parent != PROFILE_NONE)
			is_caller[profile->stacks[i].parent] = true;
}

static int merge_trees(struct view_stacks *stacks, const struct profile *profile,
		       const bool *is_caller, uint32_t *merged)
{
	_cleanup_(tree_merge_done) struct tree_merge callers = {};
	_cleanup_(tree_merge_done) struct tree_merge leaves = {};
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
			r = add_row(stacks, &leaves, view_function_start(profile, at), parent,
				    stack);
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
	return r ? r : COMPARE(a->caller, b->caller);
}

void view_stacks_sort(struct view_stacks *stacks)
{
	if (stacks->n_rows > 0)
		qsort(stacks->rows, stacks->n_rows, sizeof(*stacks->rows), compare_rows);
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
	r = merge_trees(stacks, profile, is_caller, merged);
	if (r < 0)
		return r;
	view_stacks_sort(stacks);
	*ret = TAKE_PTR(stacks);
	return 0;
}

size_t view_stack_depth(const struct view_stacks *stacks, const struct view_stack *stack)
{
	size_t n = 1;

	for (uint32_t i = stack->caller; i != PROFILE_NONE; i = stacks->callers[i].parent)
		n++;
	return n;
}
