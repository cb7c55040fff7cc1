/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/call-tree.h"

#include <errno.h>
#include <stdlib.h>

#include "client/export/clean-text.h"
#include "client/view/tree-merge.h"
#include "client/view/view.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

struct call_tree *call_tree_free(struct call_tree *tree)
{
	if (!tree)
		return NULL;
	for (size_t i = 0; i < tree->n_frames; i++)
		free(tree->frames[i].name);
	free(tree->frames);
	free(tree->rows);
	free(tree->path);
	free(tree);
	return NULL;
}

/* While the tree is made. */
struct making {
	struct call_tree *tree;
	const struct places *places;
	enum call_tree_unknown unknown;
	struct tree_merge frames, rows;
};

static void making_done(struct making *making)
{
	tree_merge_done(&making->frames);
	tree_merge_done(&making->rows);
}

static char *name_frame(const struct making *making, struct location at)
{
	struct place place = place_find(making->places, at);
	_cleanup_free_ char *name = NULL;

	if (place.function)
		return clean_text(place.function->name);
	if (making->unknown == CALL_TREE_BY_ADDRESS)
		name = place_format(&place);
	else if (place_object_name(place.object)[0] == '[')
		return clean_text(place_object_name(place.object));
	else if (asprintf(&name, "[%s]", place_object_name(place.object)) < 0)
		name = NULL;
	return name ? clean_text(name) : NULL;
}

/* The location that stands for all locations with the same name. */
static struct location place_of_frame(const struct making *making, struct location frame)
{
	const struct profile *profile = making->tree->profile;
	struct location at = profile_place_frame(profile, frame);

	if (making->unknown == CALL_TREE_BY_OBJECT && !profile_find_function(profile, at))
		return (struct location){ at.object, UINT64_MAX };
	return view_function_start(profile, at);
}

static int64_t find_frame(struct making *making, struct location at)
{
	struct call_tree *tree = making->tree;
	int64_t number = tree_merge_find(&making->frames, PROFILE_NONE, at, at);
	struct call_tree_frame *frame;

	if (number < 0 || (size_t)number < tree->n_frames)
		return number;
	if (ARRAY_RESERVE(&tree->frames, &tree->cap_frames, tree->n_frames + 1) < 0)
		return -ENOMEM;
	frame = &tree->frames[tree->n_frames];
	*frame = (struct call_tree_frame){
		.at = at,
		.object = at.object == PROFILE_NONE ? NULL : &tree->profile->objects[at.object],
		.function = profile_find_function(tree->profile, at),
		.name = name_frame(making, at),
	};
	if (!frame->name)
		return -ENOMEM;
	tree->n_frames++;
	return number;
}

/* A root has its process in its key, because processes are not merged. */
static int64_t find_row(struct making *making, const struct profile_stack *stack, uint32_t parent)
{
	struct call_tree *tree = making->tree;
	int64_t frame = find_frame(making, place_of_frame(making, stack->frame)), number;

	if (frame < 0)
		return frame;
	number = tree_merge_find(&making->rows, parent, (struct location){ (uint32_t)frame, 0 },
				 (struct location){ stack->process, 0 });
	if (number < 0 || (size_t)number < tree->n_rows)
		return number;
	if (ARRAY_RESERVE(&tree->rows, &tree->cap_rows, tree->n_rows + 1) < 0)
		return -ENOMEM;
	tree->rows[tree->n_rows++] = (struct call_tree_row){
		.parent = parent,
		.frame = (uint32_t)frame,
		.process = stack->process,
	};
	return number;
}

static int merge_stacks(struct making *making)
{
	const struct profile *profile = making->tree->profile;
	_cleanup_free_ uint32_t *rows = NULL;

	if (ARRAY_ALLOCATE(&rows, profile->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		uint32_t parent =
			stack->parent == PROFILE_NONE ? PROFILE_NONE : rows[stack->parent];
		int64_t row = find_row(making, stack, parent);

		if (row < 0)
			return (int)row;
		rows[i] = (uint32_t)row;
		making->tree->rows[row].samples += stack->samples;
		making->tree->rows[row].weight += stack->weight;
		making->tree->rows[row].variance += stack->variance;
	}
	return ARRAY_ALLOCATE(&making->tree->path, making->tree->n_rows);
}

int call_tree_new(struct call_tree **ret, const struct places *places,
		  enum call_tree_unknown unknown)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = calloc(1, sizeof(*tree));
	_cleanup_(making_done) struct making making = {
		.tree = tree,
		.places = places,
		.unknown = unknown,
	};
	int r;

	if (!tree)
		return -ENOMEM;
	tree->profile = places->profile;
	r = merge_stacks(&making);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(tree);
	return 0;
}

const uint32_t *call_tree_path(struct call_tree *tree, uint32_t row, size_t *ret_n)
{
	size_t at = tree->n_rows;

	for (; row != PROFILE_NONE; row = tree->rows[row].parent)
		tree->path[--at] = row;
	*ret_n = tree->n_rows - at;
	return &tree->path[at];
}
