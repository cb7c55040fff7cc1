/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/top-order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/top/share.h"
#include "client/view/branch.h"
#include "client/view/user-name.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define MAX_ORDERS 6

static int compare_total(const void *p, const void *q)
{
	const struct share *a = p, *b = q;

	return a->total != b->total ? COMPARE(b->total, a->total) : share_compare(p, q);
}

static int compare_samples(const void *p, const void *q)
{
	const struct view_stack *a = p, *b = q;

	if (a->samples != b->samples)
		return COMPARE(b->samples, a->samples);
	return COMPARE(a->caller, b->caller);
}

static int compare_hits(const void *p, const void *q)
{
	const struct view_stream *a = p, *b = q;

	return a->hits != b->hits ? COMPARE(b->hits, a->hits) : COMPARE(a->node, b->node);
}

static int compare_stream_cycles(const void *p, const void *q)
{
	const struct view_stream *a = p, *b = q;

	return a->cycles < b->cycles ? 1 : a->cycles > b->cycles ? -1 : compare_hits(p, q);
}

static int compare_branch_places(const struct profile_branch *a, const struct profile_branch *b)
{
	int r = view_compare_locations(a->from, b->from);

	return r ? r : view_compare_locations(a->to, b->to);
}

static int compare_taken(const void *p, const void *q)
{
	const struct profile_branch *a = p, *b = q;

	return a->taken != b->taken ? COMPARE(b->taken, a->taken) : compare_branch_places(a, b);
}

static int compare_mispredicted(const void *p, const void *q)
{
	const struct profile_branch *a = p, *b = q;

	return a->mispredicted != b->mispredicted ? COMPARE(b->mispredicted, a->mispredicted) :
						    compare_taken(p, q);
}

/* By the lower bound: ten records, however bad, do not come before ten thousand. */
static int compare_mispredicted_share(const void *p, const void *q, void *source)
{
	const struct profile_branch *a = p, *b = q;
	const struct profile_counters *all = &((struct profile_source *)source)->all->counters;
	double low_a = view_branch_surely(all, a), low_b = view_branch_surely(all, b);

	return low_a < low_b ? 1 : low_a > low_b ? -1 : compare_mispredicted(p, q);
}

static int compare_branch_cycles(const void *p, const void *q)
{
	const struct profile_branch *a = p, *b = q;

	return a->cycles != b->cycles ? COMPARE(b->cycles, a->cycles) : compare_taken(p, q);
}

static const char *name_at(const struct profile *profile, struct location at)
{
	const struct profile_function *function = profile_find_function(profile, at);

	return function ? function->name : "";
}

/* By the name of the function, unknown ones last; functions of one name by their places. */
static int compare_ends(const struct profile_source *source, struct location a, struct location b)
{
	const struct profile *profile = source->shown;
	const char *name_a = name_at(profile, a), *name_b = name_at(profile, b);
	int r = COMPARE(*name_a == '\0', *name_b == '\0');

	RETURN_UNLESS_EQUAL(r);
	RETURN_UNLESS_EQUAL(strcmp(name_a, name_b));
	return view_compare_locations(view_function_start(profile, a),
				      view_function_start(profile, b));
}

static int compare_sources(const void *p, const void *q, void *source)
{
	const struct profile_branch *a = p, *b = q;
	int r = compare_ends(source, a->from, b->from);

	return r ? r : compare_taken(p, q);
}

static int compare_targets(const void *p, const void *q, void *source)
{
	const struct profile_branch *a = p, *b = q;
	int r = compare_ends(source, a->to, b->to);

	return r ? r : compare_taken(p, q);
}

static int compare_block_places(const struct profile_block *a, const struct profile_block *b)
{
	struct location start_a = { a->object, a->start }, start_b = { b->object, b->start };
	int r = view_compare_locations(start_a, start_b);

	return r ? r : COMPARE(a->end, b->end);
}

static int compare_runs(const void *p, const void *q)
{
	const struct profile_block *a = p, *b = q;

	return a->runs != b->runs ? COMPARE(b->runs, a->runs) : compare_block_places(a, b);
}

static int compare_cycles(const void *p, const void *q)
{
	const struct profile_block *a = p, *b = q;

	return a->cycles != b->cycles ? COMPARE(b->cycles, a->cycles) : compare_runs(p, q);
}

static double average(const struct profile_block *block)
{
	return block->cycles_rows > 0 ? (double)block->cycles / (double)block->cycles_rows : 0;
}

static int compare_average(const void *p, const void *q)
{
	double a = average(p), b = average(q);

	return a < b ? 1 : a > b ? -1 : compare_cycles(p, q);
}

struct order {
	const char *name;
	int (*compare)(const void *p, const void *q); /* NULL: the view's own order, or: */
	int (*compare_with)(const void *p, const void *q, void *source);
	const char *word; /* of --sort, or NULL */
};

#define ORDERS_OF_SHARES                                                   \
	{ .name = "self", .compare = share_compare, .word = "self" },      \
	{                                                                  \
		.name = "total", .compare = compare_total, .word = "total" \
	}

#define ORDERS_OF_BRANCHES                                                                 \
	{ .name = "count", .compare = compare_taken, .word = "count" },                    \
		{ .name = "mispredictions",                                                \
		  .compare = compare_mispredicted,                                         \
		  .word = "mispredicted" },                                                \
		{ .name = "cycles", .compare = compare_branch_cycles, .word = "cycles" },  \
		[TOP_ORDER_MISPREDICTED] = { .name = "mispredicted share",                 \
					     .compare_with = compare_mispredicted_share }, \
		{ .name = "source", .compare_with = compare_sources, .word = "from" },     \
	{                                                                                  \
		.name = "target", .compare_with = compare_targets, .word = "to"            \
	}

static const struct order orders[N_VIEWS][MAX_ORDERS] = {
	[VIEW_FUNCTION] = { ORDERS_OF_SHARES },
	[VIEW_LINE] = { ORDERS_OF_SHARES },
	[VIEW_OBJECT] = { ORDERS_OF_SHARES },
	[VIEW_PROCESS] = { { "self", share_compare } },
	[VIEW_UNIT] = { { "self", share_compare } },
	[VIEW_COMM] = { { "self", share_compare } },
	[VIEW_CONTAINER] = { { "self", share_compare } },
	[VIEW_USER] = { { "self", share_compare } },
	[VIEW_HOST] = { { "self", share_compare } },
	[VIEW_STACK] = { { "samples", compare_samples },
			 [VIEW_TREE_CALLER] = { "callers", NULL },
			 [VIEW_TREE_CALLEE] = { "callees", NULL } },
	[VIEW_STREAM] = { { .name = "hits", .compare = compare_hits, .word = "hits" },
			  { .name = "average cycles",
			    .compare = compare_stream_cycles,
			    .word = "average" } },
	[VIEW_BRANCH] = { ORDERS_OF_BRANCHES },
	[VIEW_BRANCH_SITE] = { ORDERS_OF_BRANCHES },
	[VIEW_BLOCK] = { { .name = "cycles", .compare = compare_cycles, .word = "cycles" },
			 { .name = "runs", .compare = compare_runs, .word = "runs" },
			 { .name = "average cycles",
			   .compare = compare_average,
			   .word = "average" } },
};

size_t top_n_orders(enum view_by by)
{
	size_t n = 0;

	while (n < MAX_ORDERS && orders[by][n].name)
		n++;
	return n;
}

const char *top_order_name(enum view_by by, size_t order)
{
	return orders[by][order].name;
}

const char *top_order_word(enum view_by by, size_t order)
{
	return order < MAX_ORDERS ? orders[by][order].word : NULL;
}

int top_order_parse(size_t *ret, enum view_by by, const char *word)
{
	for (size_t i = 0; i < top_n_orders(by); i++)
		if (orders[by][i].word && strcmp(orders[by][i].word, word) == 0) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

/* The rows of any view. */
static void *rows_of(const struct top *top, size_t *ret_size)
{
	switch (top->by) {
	case VIEW_STACK:
		*ret_size = top->tree ? sizeof(*top->tree->rows) : sizeof(*top->stacks->rows);
		return top->tree ? (void *)top->tree->rows : top->stacks->rows;
	case VIEW_STREAM:
		*ret_size = sizeof(struct view_stream);
		return top->streams ? top->streams->rows : top->line_streams->rows;
	case VIEW_BRANCH:
	case VIEW_BRANCH_SITE:
		*ret_size = sizeof(*top->branches);
		return top->branches;
	case VIEW_BLOCK:
		*ret_size = sizeof(*top->blocks);
		return top->blocks;
	default:
		*ret_size = sizeof(*top->shares->rows);
		return top->shares->rows;
	}
}

void top_sort(struct top *top, size_t order)
{
	size_t size;
	void *rows = rows_of(top, &size);
	const struct order *by = &orders[top->by][order];

	if (top->n_rows > 1 && by->compare)
		qsort(rows, top->n_rows, size, by->compare);
	else if (top->n_rows > 1 && by->compare_with)
		qsort_r(rows, top->n_rows, size, by->compare_with, (void *)top->source);
}

static bool has(const char *name, const char *text)
{
	return name && strcasestr(name, text);
}

static bool object_has(const struct top *top, uint32_t object, const char *text)
{
	return object != PROFILE_NONE && has(top->source->shown->objects[object].path, text);
}

static bool place_has(const struct top *top, struct location at, const char *text)
{
	const struct profile_function *function = profile_find_function(top->source->shown, at);

	return (function && has(function->name, text)) || object_has(top, at.object, text);
}

static bool process_has(const struct top *top, uint32_t index, const char *text)
{
	const struct profile_process *process;

	if (index == PROFILE_NONE)
		return false;
	process = &top->source->shown->processes[index];
	return has(process->comm, text) || has(process->executable, text) ||
	       has(process->unit, text);
}

static bool user_has(const char *number, const char *text)
{
	_cleanup_free_ char *name = number ? user_name_find(number) : NULL;

	return has(name, text);
}

static bool share_has(const struct top *top, const struct share_key *key, const char *text)
{
	if (top->by == VIEW_PROCESS)
		return process_has(top, key->process, text);
	if (top->by == VIEW_USER && user_has(key->group, text))
		return true;
	if (view_is_owner(top->by))
		return has(key->group, text);
	return has(key->symbol, text) || has(key->file, text) || object_has(top, key->object, text);
}

static bool stack_has(const struct top *top, const struct view_stack *stack, const char *text)
{
	uint32_t caller = stack->caller;

	if (place_has(top, stack->leaf, text))
		return true;
	for (; caller != PROFILE_NONE; caller = top->stacks->callers[caller].parent)
		if (place_has(top, top->stacks->callers[caller].frame, text))
			return true;
	return false;
}

static bool stream_has(const struct top *top, const struct view_stream *stream, const char *text)
{
	const struct view_stream_node *nodes = top->streams->nodes;

	for (uint32_t i = stream->node; i != PROFILE_NONE; i = nodes[i].parent)
		if (place_has(top, nodes[i].from, text) || place_has(top, nodes[i].to, text))
			return true;
	return false;
}

static bool line_stream_has(const struct top *top, const struct view_stream *stream,
			    const char *text)
{
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(top->line_streams->tree, stream->node, path);

	for (size_t i = 0; i < n; i++)
		if (place_has(top,
			      stream_tree_node(top->line_streams->tree, path[i])->ends[SIDE_OLD].at,
			      text))
			return true;
	return false;
}

static bool row_has(const struct top *top, size_t i, const char *text)
{
	const struct profile_block *block;

	switch (top->by) {
	case VIEW_STACK:
		return stack_has(top, &top->stacks->rows[i], text);
	case VIEW_STREAM:
		return top->streams ? stream_has(top, &top->streams->rows[i], text) :
				      line_stream_has(top, &top->line_streams->rows[i], text);
	case VIEW_BRANCH:
	case VIEW_BRANCH_SITE:
		return place_has(top, top->branches[i].from, text) ||
		       place_has(top, top->branches[i].to, text);
	case VIEW_BLOCK:
		block = &top->blocks[i];
		return place_has(top, (struct location){ block->object, block->start }, text);
	default:
		return share_has(top, &top->shares->rows[i].key, text);
	}
}

static int search_tree(struct top *top, const char *text)
{
	_cleanup_free_ bool *wanted = calloc(top->tree->n_rows + 1, sizeof(*wanted));
	int r;

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < top->tree->n_rows; i++)
		wanted[i] = place_has(top, top->tree->rows[i].frame, text);
	r = view_tree_keep(top->tree, wanted);
	top->n_rows = top->tree->n_rows;
	return r;
}

static void search_rows(struct top *top, const char *text)
{
	size_t size, n = 0;
	char *rows = rows_of(top, &size);

	for (size_t i = 0; i < top->n_rows; i++)
		if (row_has(top, i, text)) {
			memmove(rows + n * size, rows + i * size, size);
			n++;
		}
	top->n_rows = n;
}

int top_search(struct top *top, const char *text)
{
	int r = 0;

	top->searched = true;
	if (top->tree)
		r = search_tree(top, text);
	else
		search_rows(top, text);
	top->n_shown = MIN(top->n_shown, top->n_rows);
	return r;
}
