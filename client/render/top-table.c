/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/top-table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/interpreters.h"
#include "client/render/share-rows.h"
#include "client/render/stack-text.h"
#include "client/render/stream-lines.h"
#include "client/render/stream-text.h"
#include "client/render/summary.h"
#include "client/render/table-cells.h"
#include "client/render/table.h"
#include "client/render/unnamed.h"
#include "client/term/color.h"
#include "client/term/text.h"
#include "client/view/branch.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

#define NARROW_STREAM 60 /* columns: fewer have no room for all words above a stream */

struct column {
	const char *name;
	unsigned int flags;
};

static int set_place(struct table *table, size_t column, const struct top *top, struct location at)
{
	struct place place = place_find(&top->places, at);
	_cleanup_free_ char *text = place_format(&place);

	return text ? table_set(table, column, text) : -ENOMEM;
}

static const struct profile_object *object_at(const struct top *top, uint32_t object)
{
	return object == PROFILE_NONE ? NULL : &top->source->shown->objects[object];
}

static int set_object(struct table *table, size_t column, const struct top *top, uint32_t object)
{
	return table_set(table, column, place_object_name(object_at(top, object)));
}

/* OBJECT is last, as a narrow terminal has no room for it. */
static const struct column pair_columns[] = {
	{ "SHARE", TABLE_RIGHT },
	{ "COUNT", TABLE_RIGHT | TABLE_SPARE },
	{ "MISPRED", TABLE_RIGHT | TABLE_SPARE },
	{ "CYCLES", TABLE_RIGHT | TABLE_SPARE },
	{ "", 0 },
	{ "FROM", TABLE_ELIDE_NAME },
	{ "", 0 },
	{ "TO", TABLE_ELIDE_NAME },
	{ "OBJECT", TABLE_ELIDE_NAME },
	{ NULL, 0 },
};

static const struct column mispredicted_pair_columns[] = {
	{ "SHARE", TABLE_RIGHT },
	{ "COUNT", TABLE_RIGHT | TABLE_SPARE },
	{ "MISPRED", TABLE_RIGHT | TABLE_SPARE },
	{ "SURELY", TABLE_RIGHT | TABLE_SPARE },
	{ "CYCLES", TABLE_RIGHT | TABLE_SPARE },
	{ "", 0 },
	{ "FROM", TABLE_ELIDE_NAME },
	{ "", 0 },
	{ "TO", TABLE_ELIDE_NAME },
	{ "OBJECT", TABLE_ELIDE_NAME },
	{ NULL, 0 },
};

static const struct column branch_columns[] = {
	{ "TAKEN", TABLE_RIGHT },
	{ "COUNT", TABLE_RIGHT | TABLE_SPARE },
	{ "MISPRED", TABLE_RIGHT | TABLE_SPARE },
	{ "CYCLES", TABLE_RIGHT | TABLE_SPARE },
	{ "KIND", TABLE_SPARE },
	{ "FROM", TABLE_ELIDE_NAME },
	{ "TO", TABLE_ELIDE_NAME },
	{ NULL, 0 },
};

static const struct column mispredicted_columns[] = {
	{ "TAKEN", TABLE_RIGHT },
	{ "COUNT", TABLE_RIGHT | TABLE_SPARE },
	{ "MISPRED", TABLE_RIGHT | TABLE_SPARE },
	{ "SURELY", TABLE_RIGHT | TABLE_SPARE },
	{ "CYCLES", TABLE_RIGHT | TABLE_SPARE },
	{ "KIND", TABLE_SPARE },
	{ "FROM", TABLE_ELIDE_NAME },
	{ "TO", TABLE_ELIDE_NAME },
	{ NULL, 0 },
};

/* Not all hardware says whether a branch was predicted. */
static int set_mispredicted(struct table *table, size_t column, const struct profile_branch *branch)
{
	uint64_t n_known = branch->mispredicted + branch->predicted;

	if (n_known == 0)
		return table_set(table, column, "-");
	return table_printf(table, column, "%.1f%%", percent_of(branch->mispredicted, n_known));
}

static int set_kind(struct table *table, size_t column, const struct top *top,
		    const struct profile_branch *branch)
{
	enum branch_kind kind;
	int r = branch_class_find(top->class, branch, &kind);

	return r < 0 ? r : table_set(table, column, branch_kind_name(kind) ?: "-");
}

/* In two columns: the level, as perf marks it, and the name. */
static int set_function(struct table *table, size_t column, const struct top *top,
			struct location at)
{
	struct place place = place_find(&top->places, at);
	int r = table_set(table, column, view_is_kernel(top->source->shown, at) ? "[k]" : "[.]");

	if (r < 0)
		return r;
	return place.function ? table_set(table, column + 1, place.function->name) :
				set_place(table, column + 1, top, at);
}

/* "a.out", or "a.out -> libc.so.6". */
static int set_objects(struct table *table, size_t column, const struct top *top,
		       const struct profile_branch *branch)
{
	const char *from = place_object_name(object_at(top, branch->from.object));
	const char *to = place_object_name(object_at(top, branch->to.object));

	if (branch->from.object == branch->to.object)
		return table_set(table, column, from);
	return table_printf(table, column, "%s -> %s", from, to);
}

/* The numbers of a branch. Returns the next column. */
static int fill_counts(const struct top *top, struct table *table,
		       const struct profile_branch *branch)
{
	const struct profile_counters *all = &top->source->all->counters;
	size_t column = 3;
	int r;

	r = cell_set_percent(table, 0, branch->taken, top->n_taken);
	if (r >= 0)
		r = cell_set_count(table, 1, branch->taken);
	if (r >= 0)
		r = set_mispredicted(table, 2, branch);
	if (r >= 0 && top->mispredicted)
		r = table_printf(table, column++, "%.1f%%", 100 * view_branch_surely(all, branch));
	if (r >= 0)
		r = cell_set_average(table, column++, branch->cycles, branch->cycles_rows);
	return r < 0 ? r : (int)column;
}

static int fill_pair(const struct top *top, struct table *table, size_t i)
{
	const struct profile_branch *branch = &top->branches[i];
	int r = fill_counts(top, table, branch);
	size_t column = (size_t)r;

	if (r >= 0)
		r = set_function(table, column, top, branch->from);
	if (r >= 0)
		r = set_function(table, column + 2, top, branch->to);
	if (r < 0 || table_is_narrow(table))
		return r;
	return set_objects(table, column + 4, top, branch);
}

static int fill_branch(const struct top *top, struct table *table, size_t i)
{
	const struct profile_branch *branch = &top->branches[i];
	int r = fill_counts(top, table, branch);
	size_t column = (size_t)r;

	if (r >= 0)
		r = set_kind(table, column++, top, branch);
	if (r >= 0)
		r = set_place(table, column++, top, branch->from);
	return r < 0 ? r : set_place(table, column, top, branch->to);
}

static const struct column block_columns[] = {
	{ "CYCLES", TABLE_RIGHT },
	{ "SAMPLED", TABLE_RIGHT | TABLE_SPARE },
	{ "AVERAGE", TABLE_RIGHT | TABLE_SPARE },
	{ "RUNS", TABLE_RIGHT | TABLE_SPARE },
	{ "BLOCK", TABLE_ELIDE_NAME },
	{ "OBJECT", TABLE_ELIDE_NAME },
	{ NULL, 0 },
};

/* Without cycles. */
static const struct column untimed_columns[] = {
	{ "SHARE", TABLE_RIGHT },
	{ "RUNS", TABLE_RIGHT | TABLE_SPARE },
	{ "BLOCK", TABLE_ELIDE_NAME },
	{ "OBJECT", TABLE_ELIDE_NAME },
	{ NULL, 0 },
};

static int set_range(struct table *table, size_t column, const struct top *top,
		     const struct profile_block *block)
{
	_cleanup_free_ char *text = place_format_block(&top->places, block);

	return text ? table_set(table, column, text) : -ENOMEM;
}

static int fill_timed(const struct top *top, struct table *table, const struct profile_block *block)
{
	int r = cell_set_percent(table, 0, block->cycles, top->block_cycles);

	if (r >= 0)
		r = cell_set_count(table, 1, block->cycles);
	return r < 0 ? r : cell_set_average(table, 2, block->cycles, block->cycles_rows);
}

static int fill_block(const struct top *top, struct table *table, size_t i)
{
	const struct profile_block *block = &top->blocks[i];
	size_t column = top->block_cycles > 0 ? 3 : 1;
	int r;

	if (top->block_cycles > 0)
		r = fill_timed(top, table, block);
	else
		r = cell_set_percent(table, 0, block->runs,
				     top->source->all->counters.runs_counted);
	if (r >= 0)
		r = cell_set_count(table, column++, block->runs);
	if (r >= 0)
		r = set_range(table, column++, top, block);
	return r < 0 || table_is_narrow(table) ? r : set_object(table, column, top, block->object);
}

static const struct column *columns_of(const struct top *top)
{
	if (top->by == VIEW_BLOCK)
		return top->block_cycles > 0 ? block_columns : untimed_columns;
	if (top->by == VIEW_BRANCH)
		return top->mispredicted ? mispredicted_pair_columns : pair_columns;
	return top->mispredicted ? mispredicted_columns : branch_columns;
}

static int add_columns(const struct top *top, struct table *table)
{
	const struct column *columns = columns_of(top);
	int r = 0;

	if (top->shares)
		return share_rows_add_columns(top, table);
	for (; r >= 0 && columns->name; columns++)
		if (columns[1].name || top->by == VIEW_BRANCH_SITE || !table_is_narrow(table))
			r = table_add_column(table, columns->name, columns->flags);
	return r;
}

typedef int (*fill_row)(const struct top *top, struct table *table, size_t i);

static int write_rows(const struct top *top, struct output *output, fill_row fill)
{
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	r = table_new(&table, output->f, output->width, output->colors);
	if (r >= 0)
		r = add_columns(top, table);
	for (size_t i = 0; r >= 0 && i < top->n_shown; i++) {
		r = table_add_row(table);
		if (r >= 0)
			r = fill(top, table, top->first + i);
	}
	return r < 0 ? r : table_print(table);
}

static int write_stacks(const struct top *top, struct output *output)
{
	uint64_t samples = top->source->all->counters.samples;
	const struct stack_text_tree tree = {
		.places = &top->places,
		.tree = top->tree,
		.order = top->tree_first,
		.first = top->first,
		.n = top->n_shown,
		.samples = samples,
	};
	const struct stack_text text = {
		.places = &top->places,
		.stacks = top->stacks,
		.samples = samples,
		.machine =
			top->source->by_process ? profile_source_machine_samples(top->source) : 0,
		.verbose = top->verbose,
	};
	int r = 0;

	if (top->tree)
		return stack_text_write_tree(&tree, output);
	for (size_t i = 0; r >= 0 && i < top->n_shown; i++)
		r = stack_text_write(&text, output, top->first + i, i == 0);
	return r;
}

static void write_stream_head(const struct top *top, struct output *output,
			      const struct view_stream *stream)
{
	fprintf(output->f, "\n%s", COLOR_BOLD(output->colors));
	if (stream->cycles > 0)
		fprintf(output->f, "cycles: %.0f, ", stream->cycles);
	fprintf(output->f, "hits: %.2f%% (%" PRIu64 ")%s",
		percent_of(stream->hits, top->source->all->counters.samples), stream->hits,
		COLOR_RESET(output->colors));
	if (stream->n_continuations > 0 && output->width > 0 && output->width < NARROW_STREAM)
		fprintf(output->f, ", +%" PRIu32, stream->n_continuations);
	else if (stream->n_continuations > 0)
		fprintf(output->f, ", %" PRIu32 " continuation%s", stream->n_continuations,
			text_plural(stream->n_continuations));
	fputc('\n', output->f);
}

static int write_streams(const struct top *top, struct output *output)
{
	int r = 0;

	for (size_t i = top->first; r >= 0 && i < top->first + top->n_shown; i++) {
		const struct view_stream *stream =
			top->streams ? &top->streams->rows[i] : &top->line_streams->rows[i];

		write_stream_head(top, output, stream);
		r = top->streams ? stream_text_write(&top->places, output, top->streams, stream) :
				   stream_lines_write_all(&top->places, output,
							  top->line_streams->tree, stream->node);
	}
	return r;
}

static bool is_of_branches(const struct top *top)
{
	enum view_by by = top->by;

	return top->mispredicted || by == VIEW_BRANCH || by == VIEW_BRANCH_SITE ||
	       by == VIEW_BLOCK || by == VIEW_STREAM;
}

/* The reason why there are no rows. */
static const char *why_empty(const struct top *top)
{
	const struct profile_counters *counters = &top->source->all->counters;
	bool is_recording = top->source->is_recording;

	if (is_of_branches(top) && counters->rows == 0)
		return is_recording ? "no branch records; record with perf record -b, where the "
				      "processor supports it" :
				      "no branch records; branchctl status shows why";
	if (top->searched && counters->samples > 0)
		return "no row has the words that the filter searches for";
	if (top->source->filtered)
		return "nothing matches the filters";
	if (top->kinds && counters->rows_counted > 0)
		return "no branch of that kind";
	if (top->level && counters->rows_counted > 0)
		return "no branch to code of that level";
	if (top->mispredicted && counters->rows_counted > 0)
		return "no mispredicted branch";
	if (is_of_branches(top) && counters->rows_call_stack > 0)
		return "the branch records are call stacks, not branches";
	if (top->by == VIEW_STREAM && counters->streams_limit > 0)
		return "no branch path has a thousandth of the samples";
	return "no samples";
}

int top_write_rows(const struct top *top, struct output *output)
{
	if (top->n_rows == 0) {
		fprintf(output->f, "%s\n", why_empty(top));
		return 0;
	}
	switch (top->by) {
	case VIEW_STACK:
		return write_stacks(top, output);
	case VIEW_STREAM:
		return write_streams(top, output);
	case VIEW_BRANCH:
		return write_rows(top, output, fill_pair);
	case VIEW_BRANCH_SITE:
		return write_rows(top, output, fill_branch);
	case VIEW_BLOCK:
		return write_rows(top, output, fill_block);
	default:
		return write_rows(top, output, share_rows_fill);
	}
}

int top_write_table(const struct top *top, struct output *output)
{
	int r;

	fputs(COLOR_DIM(output->colors), output->f);
	r = summary_write(output, top->source, top->by);
	if (r >= 0)
		r = unnamed_write(top, output);
	if (r >= 0)
		r = interpreters_write(top, output);
	fputs(COLOR_RESET(output->colors), output->f);
	if (r >= 0)
		r = top_write_rows(top, output);
	if (r < 0)
		return r;
	if (top_n_omitted(top) > 0)
		fprintf(output->f, "%s... %zu more%s, -n 0 shows all%s\n",
			COLOR_DIM(output->colors), top_n_omitted(top), top->tree ? " lines" : "",
			COLOR_RESET(output->colors));
	return 0;
}
