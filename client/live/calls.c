/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "client/live/line.h"
#include "client/render/stack-text.h"
#include "common/util/cleanup.h"

#define MAX_ROWS   200 /* of a tree: the hottest ones; nobody scrolls further */
#define HEAD_LINES 2   /* of a tree: its title, its headings */

static int make_trees(struct live_calls *calls, const struct profile *profile,
		      const struct live_subject *subject)
{
	_cleanup_free_ bool *functions = calloc(profile->n_functions + 1, sizeof(*functions));
	_cleanup_free_ bool *objects = calloc(profile->n_objects + 1, sizeof(*objects));
	const struct view_tree_focus focus = { functions, objects };
	int r;

	if (!functions || !objects)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_objects; i++)
		objects[i] = live_subject_is(subject, &profile->objects[i], NULL);
	for (size_t i = 0; i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		functions[i] =
			function->object != PROFILE_NONE &&
			live_subject_is(subject, &profile->objects[function->object], function);
	}
	r = view_tree_about(&calls->callers, profile, VIEW_TREE_CALLEE, MAX_ROWS, &focus);
	return r < 0 ? r :
		       view_tree_about(&calls->callees, profile, VIEW_TREE_CALLER, MAX_ROWS,
				       &focus);
}

int live_calls_new(struct live_calls **ret, const struct profile_source *source,
		   const struct live_subject *subject)
{
	_cleanup_(live_calls_freep) struct live_calls *calls = calloc(1, sizeof(*calls));
	int r;

	if (!calls)
		return -ENOMEM;
	calls->places =
		(struct places){ .profile = source->shown, .symbolizer = source->symbolizer };
	calls->samples = source->all->counters.samples;
	r = make_trees(calls, source->shown, subject);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(calls);
	return 0;
}

struct live_calls *live_calls_free(struct live_calls *calls)
{
	if (!calls)
		return NULL;
	view_tree_free(calls->callers);
	view_tree_free(calls->callees);
	free(calls);
	return NULL;
}

static int write_tree(const struct live_calls *calls, const struct view_tree *tree,
		      enum view_tree_first order, struct output *output)
{
	const struct stack_text_tree text = {
		.places = &calls->places,
		.tree = tree,
		.order = order,
		.n = tree->n_rows,
		.samples = calls->samples,
	};

	return stack_text_write_tree(&text, output);
}

int live_calls_write(const struct live_calls *calls, struct output *output)
{
	int r;

	if (calls->callers->n_rows == 0) {
		fputs("no samples of it in this span\n", output->f);
		return 0;
	}
	fputs("Callers: who calls it, outwards\n", output->f);
	r = write_tree(calls, calls->callers, VIEW_TREE_CALLEE, output);
	fputs("\nCallees: what it calls\n", output->f);
	return r < 0 ? r : write_tree(calls, calls->callees, VIEW_TREE_CALLER, output);
}

/* The row of that line, and its tree. False if it has none. */
static bool find_row(const struct live_calls *calls, size_t line, const struct view_tree **ret_tree,
		     size_t *ret_row)
{
	size_t n_above = HEAD_LINES + calls->callers->n_rows + 1;

	*ret_tree = line < n_above ? calls->callers : calls->callees;
	line -= line < n_above ? 0 : n_above;
	*ret_row = line - HEAD_LINES;
	return line >= HEAD_LINES && *ret_row < (*ret_tree)->n_rows;
}

bool live_calls_lead(const struct live_calls *calls, size_t line, struct live_subject *ret)
{
	const struct view_tree *tree;
	size_t row;

	return find_row(calls, line, &tree, &row) &&
	       live_subject_set(ret, calls->places.profile, tree->rows[row].frame);
}

uint64_t live_calls_identity(const struct live_calls *calls, size_t line)
{
	const struct view_tree *tree;
	size_t row;

	if (!find_row(calls, line, &tree, &row))
		return 1;
	return live_line_identity_of_path(tree == calls->callers, tree, row, calls->places.profile);
}

size_t live_calls_find_identity(const struct live_calls *calls, uint64_t identity)
{
	size_t n = 2 * HEAD_LINES + 1 + calls->callers->n_rows + calls->callees->n_rows;

	for (size_t line = 0; line < n; line++)
		if (live_calls_identity(calls, line) == identity)
			return line;
	return SIZE_MAX;
}
