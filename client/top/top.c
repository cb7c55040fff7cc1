/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/top.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/stack/code-unit.h"
#include "client/stack/stack-fold.h"
#include "client/stack/stack-group.h"
#include "client/stream/line-loader.h"
#include "client/term/text.h"
#include "client/top/function-shares.h"
#include "client/top/share.h"
#include "client/view/branch.h"
#include "common/profile/other.h"
#include "common/util/percent.h"

/* 1, 0, or -ENOMEM. */
static int is_wanted(struct top *top, const struct profile_branch *branch)
{
	enum branch_kind kind;
	int r;

	if (top->mispredicted && branch->mispredicted == 0)
		return 0;
	if (top->level &&
	    view_is_kernel(top->source->shown, branch->to) != (top->level == TOP_LEVEL_KERNEL))
		return 0;
	if (top->kinds == 0)
		return 1;
	r = branch_class_find(top->class, branch, &kind);
	if (r < 0)
		return r;
	if (kind == BRANCH_UNKNOWN)
		top->n_unclassified += branch->taken;
	return (top->kinds >> kind & 1) != 0;
}

static int view_wanted_branches(struct top *top)
{
	size_t n = 0;
	int r;

	/* what is asked of single branches is asked before they are pairs */
	r = top->by == VIEW_BRANCH_SITE || top->mispredicted || top->kinds != 0 ?
		    view_branches(&top->branches, &top->n_rows, top->source->shown) :
		    view_branch_pairs(&top->branches, &top->n_rows, top->source->shown);
	if (r >= 0)
		r = branch_class_new(&top->class, top->source->shown, top->source->symbolizer);
	if (r >= 0 && top->kinds != 0)
		r = branch_class_load(top->class, top->branches, top->n_rows);
	for (size_t i = 0; r >= 0 && i < top->n_rows; i++) {
		r = is_wanted(top, &top->branches[i]);
		if (r > 0)
			top->branches[n++] = top->branches[i];
	}
	top->n_rows = n;
	return r;
}

static int view_some_branches(struct top *top, const struct top_settings *settings)
{
	int r;

	top->mispredicted = settings->mispredicted;
	top->kinds = settings->branch_kinds;
	top->level = settings->level;
	r = view_wanted_branches(top);
	if (r < 0)
		return r;
	if (top->by == VIEW_BRANCH_SITE) {
		top->n_taken = top->source->all->counters.rows_counted;
		return 0;
	}
	if (top->mispredicted || top->kinds != 0)
		top->n_rows = view_pair_functions(top->branches, top->n_rows, top->source->shown);
	for (size_t i = 0; i < top->n_rows; i++)
		top->n_taken += top->branches[i].taken;
	if (!top->mispredicted && top->kinds == 0 && !top->level)
		top->n_taken += other_sum_up(top->source->shown).taken;
	return 0;
}

static int view_folded_stacks(struct view_stacks **ret, const struct places *places)
{
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = NULL;
	int r = view_stacks(&stacks, places->profile);

	return r < 0 ? r : view_stacks_fold(ret, stacks, places->profile, places->symbolizer);
}

static int view_some_tree(struct top *top, const struct top_settings *settings)
{
	const struct profile *profile = top->source->shown;
	_cleanup_(code_units_done) struct code_units units = {};
	int r;

	if (settings->every_frame) {
		r = view_tree(&top->tree, profile, settings->tree, settings->n_rows);
	} else {
		r = code_units_init(&units, profile, top->places.symbolizer);
		if (r >= 0)
			r = view_tree_by_unit(&top->tree, &units, settings->tree, settings->n_rows);
	}
	top->n_rows = r < 0 ? 0 : top->tree->n_rows;
	return r;
}

static int view_some_stacks(struct top *top, const struct top_settings *settings)
{
	const struct profile *profile = top->source->shown;
	int r;

	top->tree_first = settings->tree;
	if (settings->tree)
		return view_some_tree(top, settings);
	r = settings->every_frame ? view_stacks(&top->stacks, profile) :
				    view_folded_stacks(&top->stacks, &top->places);
	if (r >= 0)
		top->n_rows = top->stacks->n_rows;
	return r;
}

static int view_some_streams(struct top *top, const struct top_settings *settings)
{
	int r;

	if (settings->depth == STREAM_DEPTH_FULL) {
		r = view_streams(&top->streams, top->source->shown);
		top->n_rows = r < 0 ? 0 : top->streams->n_rows;
		return r;
	}
	r = view_line_streams(&top->line_streams, &top->places, settings->depth);
	top->n_rows = r < 0 ? 0 : top->line_streams->n_rows;
	return r;
}

static int view(struct top *top, const struct top_settings *settings)
{
	const struct profile *profile = top->source->shown;
	int r;

	switch (top->by) {
	case VIEW_STACK:
		return view_some_stacks(top, settings);
	case VIEW_STREAM:
		return view_some_streams(top, settings);
	case VIEW_BRANCH:
	case VIEW_BRANCH_SITE:
		return view_some_branches(top, settings);
	case VIEW_BLOCK:
		top->block_cycles = view_block_cycles(top->source->all);
		return view_blocks(&top->blocks, &top->n_rows, profile);
	default:
		if (top->source->functions)
			r = function_shares_view(&top->shares, top->by, top->source->functions);
		else if (top->owner || settings->mispredicted)
			r = view_owned_shares(
				&top->shares,
				(struct share_views){ top->by, top->owner, settings->mispredicted },
				profile);
		else
			r = view_shares(&top->shares, top->by, profile, top->source->symbolizer,
					settings->inlined);
		if (r < 0)
			return r;
		top->n_rows = top->shares->n_rows;
		top->mispredicted = settings->mispredicted;
		for (size_t i = 0; i < top->source->all->n_branches; i++)
			top->n_mispredicted += top->source->all->branches[i].mispredicted;
		return 0;
	}
}

static int add_stack(struct line_loader *loader, const struct view_stacks *stacks,
		     const struct view_stack *stack)
{
	int r = line_loader_add(loader, stack->leaf);

	for (uint32_t i = stack->caller; r >= 0 && i != PROFILE_NONE; i = stacks->callers[i].parent)
		r = line_loader_add(loader, stacks->callers[i].frame);
	return r;
}

static int add_row(struct line_loader *loader, const struct top *top, size_t i)
{
	int r;

	if (top->tree)
		return line_loader_add(loader, top->tree->rows[i].frame);
	if (top->stacks)
		return add_stack(loader, top->stacks, &top->stacks->rows[i]);
	if (top->streams)
		return line_loader_add_stream(loader, top->streams, top->streams->rows[i].node);
	if (top->blocks)
		return line_loader_add_block(loader, &top->blocks[i]);
	if (!top->branches)
		return 0;
	r = line_loader_add(loader, top->branches[i].from);
	return r < 0 ? r : line_loader_add(loader, top->branches[i].to);
}

/* Reads at once what the shown rows will ask for. */
static int load_shown(struct top *top)
{
	_cleanup_(line_loader_done) struct line_loader loader = {};
	int r = 0;

	if (top->by == VIEW_BRANCH_SITE && top->kinds == 0)
		r = branch_class_load(top->class, top->branches, top->n_shown);
	if (r < 0 || !top->places.lines)
		return r;
	for (size_t i = 0; r >= 0 && i < top->n_shown; i++)
		r = add_row(&loader, top, i);
	return r < 0 ? r : line_loader_run(&loader, top->source->shown, top->places.symbolizer);
}

static bool are_estimated(const struct view_stacks *stacks)
{
	for (size_t i = 0; i < stacks->n_rows; i++)
		if (stacks->rows[i].variance > 0)
			return true;
	return false;
}

int top_new(struct top **ret, const struct profile_source *source,
	    const struct top_settings *settings)
{
	_cleanup_(top_freep) struct top *top = calloc(1, sizeof(*top));
	int r;

	if (!top)
		return -ENOMEM;
	top->by = settings->by;
	top->owner = settings->owner;
	top->source = source;
	top->places = (struct places){
		.profile = source->shown,
		.symbolizer = source->symbolizer,
		.lines = settings->inlined || top->by == VIEW_STREAM || top->by == VIEW_BLOCK,
		.numbered = source->functions && source->functions->are_numbered,
	};
	r = view(top, settings);
	if (r < 0)
		return r;
	top->n_shown = top->n_rows;
	if (settings->n_rows > 0)
		top->n_shown = MIN(top->n_rows, settings->n_rows);
	top->verbose = settings->verbose;
	if (top->stacks && settings->grouped)
		r = view_stacks_group(top->stacks, source->shown, top->n_shown);
	else if (top->stacks && are_estimated(top->stacks))
		r = view_stacks_add_groups(top->stacks, source->shown);
	if (r >= 0)
		r = load_shown(top);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(top);
	return 0;
}

/* Of a row, in percent. */
static double share_of(const struct top *top, size_t i, bool by_total)
{
	uint64_t all = top->source->all->counters.samples;
	const struct view_stack *stack;
	const struct share *share;

	if (top->shares) {
		share = &top->shares->rows[i];
		if (top->mispredicted)
			return percent_of(share->mispredicted, top->n_mispredicted);
		return percent_of(by_total ? share->total : share->self, all);
	}
	stack = &top->stacks->rows[i];
	return percent_of(top->stacks->grouped ? stack->group.samples : stack->samples, all);
}

void top_limit(struct top *top, double percent, bool by_total)
{
	size_t n = 0;

	if (!top->shares && !top->stacks)
		return;
	while (n < top->n_shown && share_of(top, n, by_total) >= percent)
		n++;
	top->n_shown = n;
}

struct top *top_free(struct top *top)
{
	if (!top)
		return NULL;
	shares_free(top->shares);
	view_stacks_free(top->stacks);
	view_tree_free(top->tree);
	view_streams_free(top->streams);
	view_line_streams_free(top->line_streams);
	free(top->branches);
	branch_class_free(top->class);
	free(top->blocks);
	free(top);
	return NULL;
}

void top_say(const struct top *top, FILE *f)
{
	if (top->n_unclassified > 0)
		text_say(f, "branch type unknown: %.1f %% of the branches left out",
			 percent_of(top->n_unclassified, top->source->all->counters.rows_counted));
}

size_t top_n_omitted(const struct top *top)
{
	size_t n = top->n_rows - top->n_shown;

	if (top->tree)
		n += top->tree->n_left_out;
	return top->shares && top->source->functions ? n + top->source->functions->n_left_out : n;
}
