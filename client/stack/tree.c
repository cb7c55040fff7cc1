/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stacks are merged from their roots or from their leaves. No node is hotter than its parent,
 * so the hottest nodes are a tree, too. It is then sorted into reading order.
 */
#include "client/stack/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/view/tree-merge.h"
#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

static const char *const names[N_VIEW_TREES] = {
	[VIEW_TREE_CALLER] = "caller",
	[VIEW_TREE_CALLEE] = "callee",
};

const char *view_tree_name(enum view_tree_first first)
{
	return names[first];
}

int view_tree_parse(enum view_tree_first *ret, const char *name)
{
	for (int i = VIEW_TREE_CALLER; i < N_VIEW_TREES; i++)
		if (strcmp(names[i], name) == 0) {
			*ret = (enum view_tree_first)i;
			return 0;
		}
	return -EINVAL;
}

struct view_tree *view_tree_free(struct view_tree *tree)
{
	if (!tree)
		return NULL;
	free(tree->rows);
	free(tree);
	return NULL;
}

/* What a tree is made of. */
struct making {
	const struct profile *profile;
	const struct code_units *units;      /* frames are these; NULL: functions and locations */
	const struct view_tree_focus *focus; /* NULL: all code */
	struct tree_merge merge;
};

/* The row of the location @at below @parent, which may be new; or -ENOMEM. */
static int64_t find_row(struct view_tree *tree, struct making *making, struct location at,
			uint32_t parent)
{
	struct location placed = profile_place_frame(making->profile, at);
	struct location frame = making->units ? code_unit_find(making->units, placed) :
						view_function_start(making->profile, placed);
	int64_t number = tree_merge_find(&making->merge, parent, frame, frame);

	if (number < 0 || (size_t)number < tree->n_rows)
		return number;
	if (ARRAY_RESERVE(&tree->rows, &tree->cap_rows, tree->n_rows + 1) < 0)
		return -ENOMEM;
	tree->rows[tree->n_rows++] = (struct view_tree_row){ .frame = frame, .parent = parent };
	return number;
}

static bool is_in_focus(const struct profile *profile, struct location at,
			const struct view_tree_focus *focus)
{
	struct location frame = profile_place_frame(profile, at);
	const struct profile_function *function = profile_find_function(profile, frame);

	if (function)
		return focus->functions[function - profile->functions];
	return frame.object != PROFILE_NONE && focus->objects[frame.object];
}

static int merge_callers(struct view_tree *tree, struct making *making)
{
	const struct profile *profile = making->profile;
	const struct view_tree_focus *focus = making->focus;
	_cleanup_free_ uint32_t *rows = calloc(profile->n_stacks + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		uint32_t parent =
			stack->parent == PROFILE_NONE ? PROFILE_NONE : rows[stack->parent];
		int64_t row;

		rows[i] = PROFILE_NONE;
		if (focus && parent == PROFILE_NONE && !is_in_focus(profile, stack->frame, focus))
			continue;
		row = find_row(tree, making, stack->frame, parent);
		if (row < 0)
			return (int)row;
		rows[i] = (uint32_t)row;
		tree->rows[row].self += stack->samples;
	}
	return 0;
}

/* The frame to begin with, of the stack @at: its leaf, or the oldest one in focus, if any. */
static uint32_t first_frame(const struct profile *profile, uint32_t at,
			    const struct view_tree_focus *focus)
{
	uint32_t found = focus ? PROFILE_NONE : at;

	for (; focus && at != PROFILE_NONE; at = profile->stacks[at].parent)
		if (is_in_focus(profile, profile->stacks[at].frame, focus))
			found = at;
	return found;
}

static int merge_callees(struct view_tree *tree, struct making *making)
{
	const struct profile *profile = making->profile;

	for (size_t i = 0; i < profile->n_stacks; i++) {
		uint32_t at, parent = PROFILE_NONE;

		if (profile->stacks[i].samples == 0)
			continue;
		at = first_frame(profile, (uint32_t)i, making->focus);
		if (at == PROFILE_NONE)
			continue;
		for (; at != PROFILE_NONE; at = profile->stacks[at].parent) {
			int64_t row = find_row(tree, making, profile->stacks[at].frame, parent);

			if (row < 0)
				return (int)row;
			parent = (uint32_t)row;
		}
		tree->rows[parent].self += profile->stacks[i].samples;
	}
	return 0;
}

static void add_up(struct view_tree *tree)
{
	for (size_t i = tree->n_rows; i-- > 0;) {
		struct view_tree_row *row = &tree->rows[i];

		row->total += row->self;
		if (row->parent != PROFILE_NONE)
			tree->rows[row->parent].total += row->total;
	}
}

struct ranked {
	uint64_t total;
	uint32_t row;
};

/* Among equal rows a parent comes before its children. */
static int compare_ranked(const void *p, const void *q)
{
	const struct ranked *a = p, *b = q;

	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return COMPARE(a->row, b->row);
}

/* The first child of each row, and the next child of the same parent; child[n] is the first root.
 */
struct links {
	uint32_t *child, *next;
	size_t n;
};

static void links_done(struct links *links)
{
	free(links->child);
	free(links->next);
}

static int links_init(struct links *links, size_t n)
{
	*links = (struct links){
		.child = malloc((n + 1) * sizeof(*links->child)),
		.next = malloc((n + 1) * sizeof(*links->next)),
		.n = n,
	};
	if (!links->child || !links->next)
		return -ENOMEM;
	for (size_t i = 0; i <= n; i++)
		links->child[i] = links->next[i] = PROFILE_NONE;
	return 0;
}

static int link_hottest(struct links *links, const struct view_tree *tree, size_t n)
{
	_cleanup_free_ struct ranked *ranked = calloc(tree->n_rows + 1, sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < tree->n_rows; i++)
		ranked[i] = (struct ranked){ tree->rows[i].total, (uint32_t)i };
	qsort(ranked, tree->n_rows, sizeof(*ranked), compare_ranked);
	while (n-- > 0) {
		uint32_t row = ranked[n].row, parent = tree->rows[row].parent;
		uint32_t *first = &links->child[parent == PROFILE_NONE ? links->n : parent];

		links->next[row] = *first;
		*first = row;
	}
	return 0;
}

/* Sets is_last and is_only. */
static int mark_rows(struct view_tree *tree)
{
	_cleanup_free_ uint32_t *n_below = calloc(tree->n_rows + 1, sizeof(*n_below));

	if (!n_below)
		return -ENOMEM;
	for (size_t i = tree->n_rows; i-- > 0;) {
		struct view_tree_row *row = &tree->rows[i];
		size_t parent = row->parent == PROFILE_NONE ? tree->n_rows : row->parent;

		row->is_last = n_below[parent]++ == 0;
	}
	for (size_t i = 0; i < tree->n_rows; i++) {
		struct view_tree_row *row = &tree->rows[i];

		row->is_only =
			n_below[row->parent == PROFILE_NONE ? tree->n_rows : row->parent] == 1;
	}
	return 0;
}

/* Keeps the linked rows, in the order of links, with new numbers. */
static int put_in_order(struct view_tree *tree, const struct links *links, size_t n)
{
	_cleanup_free_ struct view_tree_row *rows = calloc(n + 1, sizeof(*rows));
	uint32_t at = links->child[links->n], parent = PROFILE_NONE;
	size_t n_rows = 0;

	if (!rows)
		return -ENOMEM;
	while (at != PROFILE_NONE) {
		uint32_t old = tree->rows[at].parent;

		rows[n_rows] = tree->rows[at];
		rows[n_rows].parent = parent;
		rows[n_rows].depth = parent == PROFILE_NONE ? 0 : rows[parent].depth + 1;
		if (links->child[at] != PROFILE_NONE) {
			parent = (uint32_t)n_rows++;
			at = links->child[at];
			continue;
		}
		n_rows++;
		while (links->next[at] == PROFILE_NONE && old != PROFILE_NONE) {
			at = old;
			old = tree->rows[at].parent;
			parent = rows[parent].parent;
		}
		at = links->next[at];
	}
	free(tree->rows);
	tree->rows = TAKE_PTR(rows);
	tree->n_rows = tree->cap_rows = n_rows;
	return 0;
}

static int choose(struct view_tree *tree, size_t n)
{
	_cleanup_(links_done) struct links links;
	int r = links_init(&links, tree->n_rows);

	n = n > 0 ? MIN(n, tree->n_rows) : tree->n_rows;
	tree->n_left_out = tree->n_rows - n;
	if (r >= 0)
		r = link_hottest(&links, tree, n);
	if (r >= 0)
		r = put_in_order(tree, &links, n);
	return r < 0 ? r : mark_rows(tree);
}

static int make(struct view_tree **ret, struct making *making, enum view_tree_first first, size_t n)
{
	_cleanup_(view_tree_freep) struct view_tree *tree = calloc(1, sizeof(*tree));
	int r;

	if (!tree)
		return -ENOMEM;
	r = first == VIEW_TREE_CALLER ? merge_callers(tree, making) : merge_callees(tree, making);
	tree_merge_done(&making->merge);
	if (r < 0)
		return r;
	add_up(tree);
	r = choose(tree, n);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(tree);
	return 0;
}

int view_tree_about(struct view_tree **ret, const struct profile *profile,
		    enum view_tree_first first, size_t n, const struct view_tree_focus *focus)
{
	struct making making = { .profile = profile, .focus = focus };

	return make(ret, &making, first, n);
}

int view_tree(struct view_tree **ret, const struct profile *profile, enum view_tree_first first,
	      size_t n)
{
	return view_tree_about(ret, profile, first, n, NULL);
}

int view_tree_by_unit(struct view_tree **ret, const struct code_units *units,
		      enum view_tree_first first, size_t n)
{
	struct making making = { .profile = units->profile, .units = units };

	return make(ret, &making, first, n);
}

/* All rows below a wanted row become wanted, then all rows above. */
static void spread(const struct view_tree *tree, bool *wanted)
{
	for (size_t i = 0; i < tree->n_rows; i++)
		if (tree->rows[i].parent != PROFILE_NONE)
			wanted[i] |= wanted[tree->rows[i].parent];
	for (size_t i = tree->n_rows; i-- > 0;)
		if (tree->rows[i].parent != PROFILE_NONE)
			wanted[tree->rows[i].parent] |= wanted[i];
}

int view_tree_keep(struct view_tree *tree, bool *wanted)
{
	_cleanup_free_ uint32_t *numbers = calloc(tree->n_rows + 1, sizeof(*numbers));
	size_t n = 0;

	if (!numbers)
		return -ENOMEM;
	spread(tree, wanted);
	for (size_t i = 0; i < tree->n_rows; i++) {
		struct view_tree_row row = tree->rows[i];

		if (!wanted[i])
			continue;
		if (row.parent != PROFILE_NONE)
			row.parent = numbers[row.parent];
		numbers[i] = (uint32_t)n;
		tree->rows[n++] = row;
	}
	tree->n_rows = n;
	return mark_rows(tree);
}
