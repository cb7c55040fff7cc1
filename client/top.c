/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top.h"

#include <errno.h>
#include <stdlib.h>

#include "client/view-branch.h"
#include "client/view-share.h"

static int view_shares(struct top *top, const struct profile *profile, bool inlined)
{
	struct symbolizer *symbolizer = top->source->symbolizer;
	int r;

	if (top->by == VIEW_FUNCTION)
		r = inlined ? view_functions_inlined(&top->shares, profile, symbolizer) :
			      view_functions(&top->shares, profile);
	else if (top->by == VIEW_LINE)
		r = view_lines(&top->shares, profile, symbolizer, inlined);
	else if (top->by == VIEW_OBJECT)
		r = view_objects(&top->shares, profile);
	else if (top->by == VIEW_PROCESS)
		r = view_processes(&top->shares, profile);
	else
		r = view_units(&top->shares, profile);
	if (r >= 0)
		top->n_rows = top->shares->n_rows;
	return r;
}

static int view(struct top *top, bool inlined)
{
	const struct profile *profile = top->source->shown;
	int r;

	switch (top->by) {
	case VIEW_STACK:
		r = view_stacks(&top->stacks, profile);
		if (r >= 0)
			top->n_rows = top->stacks->n_rows;
		return r;
	case VIEW_BRANCH:
		return view_branches(&top->branches, &top->n_rows, profile);
	case VIEW_BLOCK:
		top->block_cycles = view_block_cycles(top->source->all);
		return view_blocks(&top->blocks, &top->n_rows, profile);
	default:
		return view_shares(top, profile, inlined);
	}
}

int top_new(struct top **ret, const struct source *source, const struct options *options)
{
	_cleanup_(top_freep) struct top *top = calloc(1, sizeof(*top));
	int r;

	if (!top)
		return -ENOMEM;
	top->by = options->by;
	top->source = source;
	top->places = (struct places){
		.profile = source->shown,
		.symbolizer = source->symbolizer,
		.lines = options->inlined,
	};
	r = view(top, options->inlined);
	if (r < 0)
		return r;
	top->n_shown = top->n_rows;
	if (options->n_rows > 0)
		top->n_shown = MIN(top->n_rows, options->n_rows);
	*ret = TAKE_PTR(top);
	return 0;
}

struct top *top_free(struct top *top)
{
	if (!top)
		return NULL;
	shares_free(top->shares);
	view_stacks_free(top->stacks);
	free(top->branches);
	free(top->blocks);
	free(top);
	return NULL;
}

double top_percent(uint64_t part, uint64_t all)
{
	return all > 0 ? 100.0 * (double)part / (double)all : 0;
}
