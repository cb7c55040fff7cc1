/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stack/stack-fold.h"

#include <errno.h>
#include <stdlib.h>

#include "client/stack/code-unit.h"
#include "client/view/tree-merge.h"
#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

/* Frames of one function that follow each other. */
struct run {
	struct location at, function;
	uint32_t n;
};

struct folding {
	const struct view_stacks *all;
	struct code_units units;
	struct location *functions; /* of each caller of @all */
	struct view_stacks *folded;
	struct tree_merge callers, leaves;
	struct run *runs; /* of one stack, the leaf's first */
	size_t n_runs, cap_runs;
};

static void folding_done(struct folding *folding)
{
	free(folding->functions);
	code_units_done(&folding->units);
	view_stacks_free(folding->folded);
	tree_merge_done(&folding->callers);
	tree_merge_done(&folding->leaves);
	free(folding->runs);
}

static int add_frame(struct folding *folding, struct location at, struct location function)
{
	struct run *last = folding->n_runs > 0 ? &folding->runs[folding->n_runs - 1] : NULL;

	if (last && view_compare_locations(last->function, function) == 0) {
		last->at = function;
		last->n++;
		return 0;
	}
	if (ARRAY_RESERVE(&folding->runs, &folding->cap_runs, folding->n_runs + 1) < 0)
		return -ENOMEM;
	if (code_unit_is_object(function))
		at = function;
	folding->runs[folding->n_runs++] = (struct run){ at, function, 1 };
	return 0;
}

static int collect_runs(struct folding *folding, const struct view_stack *stack,
			struct location leaf)
{
	const struct view_stack_caller *callers = folding->all->callers;
	int r;

	folding->n_runs = 0;
	r = add_frame(folding, leaf, leaf);
	for (uint32_t i = stack->caller; r >= 0 && i != PROFILE_NONE; i = callers[i].parent)
		r = add_frame(folding, callers[i].frame, folding->functions[i]);
	return r;
}

static void count_turns(struct view_stack_turns *turns, uint32_t n)
{
	turns->fewest = MIN(turns->fewest, n);
	turns->most = MAX(turns->most, n);
}

static int64_t add_caller(struct folding *folding, const struct run *run, uint32_t parent)
{
	struct view_stacks *folded = folding->folded;
	int64_t number = tree_merge_find(&folding->callers, parent, run->at, run->at);

	if (number < 0)
		return number;
	if ((size_t)number == folded->n_callers) {
		if (ARRAY_RESERVE(&folded->callers, &folded->cap_callers, folded->n_callers + 1) <
		    0)
			return -ENOMEM;
		folded->callers[folded->n_callers++] =
			(struct view_stack_caller){ run->at, parent, { run->n, run->n } };
	}
	count_turns(&folded->callers[number].turns, run->n);
	return number;
}

static int add_stack(struct folding *folding, const struct view_stack *stack)
{
	struct view_stacks *folded = folding->folded;
	struct location leaf = code_unit_find(&folding->units, stack->leaf);
	int64_t parent = PROFILE_NONE, number;
	struct view_stack *row;
	int r = collect_runs(folding, stack, leaf);

	for (size_t i = folding->n_runs; r >= 0 && i-- > 1;) {
		parent = add_caller(folding, &folding->runs[i], (uint32_t)parent);
		r = (int)MIN(parent, 0);
	}
	if (r < 0)
		return r;
	number = tree_merge_find(&folding->leaves, (uint32_t)parent, leaf, leaf);
	if (number < 0)
		return (int)number;
	if ((size_t)number == folded->n_rows) {
		if (ARRAY_RESERVE(&folded->rows, &folded->cap_rows, folded->n_rows + 1) < 0)
			return -ENOMEM;
		folded->rows[folded->n_rows++] = (struct view_stack){
			.leaf = leaf,
			.caller = (uint32_t)parent,
			.turns = { folding->runs[0].n, folding->runs[0].n },
		};
	}
	row = &folded->rows[number];
	row->samples += stack->samples;
	row->stitched += stack->stitched;
	row->variance += stack->variance;
	count_turns(&row->turns, folding->runs[0].n);
	return 0;
}

int view_stacks_fold(struct view_stacks **ret, const struct view_stacks *stacks,
		     const struct profile *profile, struct symbolizer *symbolizer)
{
	_cleanup_(folding_done) struct folding folding = { .all = stacks };
	int r = code_units_init(&folding.units, profile, symbolizer);

	folding.folded = calloc(1, sizeof(*folding.folded));
	if (r < 0 || !folding.folded ||
	    ARRAY_ALLOCATE(&folding.functions, stacks->n_callers + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->n_callers; i++)
		folding.functions[i] = code_unit_find(&folding.units, stacks->callers[i].frame);
	for (size_t i = 0; r >= 0 && i < stacks->n_rows; i++)
		r = add_stack(&folding, &stacks->rows[i]);
	if (r < 0)
		return r;
	view_stacks_sort(folding.folded);
	*ret = TAKE_PTR(folding.folded);
	return 0;
}
