/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top-table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/fit.h"
#include "client/summary.h"
#include "client/text.h"
#include "client/writer-table.h"
#include "common/util/cleanup.h"

struct column {
	const char *name;
	unsigned int flags;
};

/* Shares of a row that are worth a look, and those that are worth nothing else. */
#define WARM_PERCENT 0.5
#define HOT_PERCENT  5

static int set_percent(struct table *table, size_t column, uint64_t part, uint64_t all)
{
	double percent = top_percent(part, all);
	int r = table_printf(table, column, "%.2f%%", percent);

	if (r >= 0 && percent >= HOT_PERCENT)
		r = table_set_color(table, column, "red");
	else if (r >= 0 && percent >= WARM_PERCENT)
		r = table_set_color(table, column, "green");
	return r;
}

static int set_count(struct table *table, size_t column, uint64_t count)
{
	return table_printf(table, column, "%" PRIu64, count);
}

/* The mean, or a dash where there is none. */
static int set_average(struct table *table, size_t column, uint64_t sum, uint64_t n)
{
	if (n == 0)
		return table_set(table, column, "-");
	return table_printf(table, column, "%.1f", (double)sum / (double)n);
}

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

static const struct column function_columns[] = {
	{ "SELF", TABLE_RIGHT },      { "TOTAL", TABLE_RIGHT },       { "SAMPLES", TABLE_RIGHT },
	{ "OBJECT", TABLE_FIT_NAME }, { "FUNCTION", TABLE_FIT_NAME }, { NULL, 0 },
};

static int fill_function(const struct top *top, struct table *table, const struct share *share)
{
	int r = set_object(table, 3, top, share->key.object);

	return r < 0 ? r : table_set(table, 4, share->key.symbol ?: "[unknown]");
}

static const struct column line_columns[] = {
	{ "SELF", TABLE_RIGHT },      { "TOTAL", TABLE_RIGHT },   { "SAMPLES", TABLE_RIGHT },
	{ "OBJECT", TABLE_FIT_NAME }, { "LINE", TABLE_FIT_PATH }, { NULL, 0 },
};

static int fill_line(const struct top *top, struct table *table, const struct share *share)
{
	int r = set_object(table, 3, top, share->key.object);

	if (r < 0)
		return r;
	if (!share->key.file)
		return table_set(table, 4, "[unknown]");
	return table_printf(table, 4, "%s:%" PRIu32, share->key.file, share->key.line);
}

static const struct column object_columns[] = {
	{ "SELF", TABLE_RIGHT },
	{ "TOTAL", TABLE_RIGHT },
	{ "SAMPLES", TABLE_RIGHT },
	{ "OBJECT", TABLE_FIT_PATH },
	{ NULL, 0 },
};

static int fill_object(const struct top *top, struct table *table, const struct share *share)
{
	const struct profile_object *object = object_at(top, share->key.object);

	return table_set(table, 3, object && object->path[0] ? object->path : "[unknown]");
}

static const struct column process_columns[] = {
	{ "SELF", TABLE_RIGHT },
	{ "SAMPLES", TABLE_RIGHT },
	{ "PID", TABLE_RIGHT },
	{ "COMM", 0 },
	{ "EXECUTABLE", TABLE_FIT_PATH },
	{ "UNIT", TABLE_FIT_NAME },
	{ NULL, 0 },
};

static int fill_process(const struct top *top, struct table *table, const struct share *share)
{
	const struct profile_process *process;
	int r;

	if (share->key.process == PROFILE_NONE)
		return table_set(table, 3, "[unknown]");
	process = &top->source->shown->processes[share->key.process];
	r = table_printf(table, 2, "%" PRId32, process->pid);
	if (r >= 0)
		r = table_set(table, 3, process->comm);
	if (r >= 0)
		r = table_set(table, 4, process->executable ?: "-");
	return r < 0 ? r : table_set(table, 5, process->unit ?: "-");
}

static const struct column unit_columns[] = {
	{ "SELF", TABLE_RIGHT },
	{ "SAMPLES", TABLE_RIGHT },
	{ "UNIT", TABLE_FIT_NAME },
	{ NULL, 0 },
};

static int fill_unit(const struct top *top, struct table *table, const struct share *share)
{
	return table_set(table, 2, share->key.unit ?: "-");
}

typedef int (*fill_function_type)(const struct top *top, struct table *table,
				  const struct share *share);

static const struct shape {
	const struct column *columns;
	fill_function_type fill; /* the name's columns */
	bool has_total;
} shapes[N_VIEWS] = {
	[VIEW_FUNCTION] = { function_columns, fill_function, true },
	[VIEW_LINE] = { line_columns, fill_line, true },
	[VIEW_OBJECT] = { object_columns, fill_object, true },
	[VIEW_PROCESS] = { process_columns, fill_process, false },
	[VIEW_UNIT] = { unit_columns, fill_unit, false },
};

static int fill_share(const struct top *top, struct table *table, size_t i)
{
	const struct shape *shape = &shapes[top->by];
	const struct share *share = &top->shares->rows[i];
	uint64_t samples = top->source->all->counters.samples;
	size_t column = 0;
	int r;

	r = set_percent(table, column++, share->self, samples);
	if (r >= 0 && shape->has_total)
		r = set_percent(table, column++, share->total, samples);
	if (r >= 0)
		r = set_count(table, column, share->self);
	return r < 0 ? r : shape->fill(top, table, share);
}

static const struct column branch_columns[] = {
	{ "TAKEN", TABLE_RIGHT },
	{ "COUNT", TABLE_RIGHT },
	{ "MISPRED", TABLE_RIGHT },
	{ "CYCLES", TABLE_RIGHT },
	{ "FROM", TABLE_FIT_NAME },
	{ "TO", TABLE_FIT_NAME },
	{ NULL, 0 },
};

static int fill_branch(const struct top *top, struct table *table, size_t i)
{
	const struct profile_branch *branch = &top->branches[i];
	int r;

	r = set_percent(table, 0, branch->taken, top->source->all->counters.rows_counted);
	if (r >= 0)
		r = set_count(table, 1, branch->taken);
	if (r >= 0)
		r = table_printf(table, 2, "%.1f%%",
				 top_percent(branch->mispredicted, branch->taken));
	if (r >= 0)
		r = set_average(table, 3, branch->cycles, branch->cycles_rows);
	if (r >= 0)
		r = set_place(table, 4, top, branch->from);
	return r < 0 ? r : set_place(table, 5, top, branch->to);
}

static const struct column block_columns[] = {
	{ "CYCLES", TABLE_RIGHT },
	{ "AVERAGE", TABLE_RIGHT },
	{ "RUNS", TABLE_RIGHT },
	{ "COUNT", TABLE_RIGHT },
	{ "OBJECT", TABLE_FIT_NAME },
	{ "BLOCK", TABLE_FIT_NAME },
	{ NULL, 0 },
};

/* "symbol+0x10..+0x2c"; in full where start and end are not of one name. */
static int set_range(struct table *table, size_t column, const struct top *top,
		     const struct profile_block *block)
{
	struct location at = { block->object, block->start };
	struct place start = place_find(&top->places, at), end;
	_cleanup_free_ char *from = place_format(&start);
	_cleanup_free_ char *to = NULL;
	const char *from_offset, *to_offset;

	at.offset = block->end;
	end = place_find(&top->places, at);
	to = place_format(&end);
	if (!from || !to)
		return -ENOMEM;
	from_offset = strrchr(from, '+') ?: from;
	to_offset = strrchr(to, '+') ?: to;
	if (from_offset - from != to_offset - to ||
	    strncmp(from, to, (size_t)(to_offset - to)) != 0)
		to_offset = to;
	return table_printf(table, column, "%s..%s", from, to_offset);
}

static int fill_block(const struct top *top, struct table *table, size_t i)
{
	const struct profile_block *block = &top->blocks[i];
	int r;

	if (top->block_cycles > 0)
		r = set_percent(table, 0, block->cycles, top->block_cycles);
	else
		r = table_set(table, 0, "-");
	if (r >= 0)
		r = set_average(table, 1, block->cycles, block->cycles_rows);
	if (r >= 0)
		r = set_percent(table, 2, block->runs, top->source->all->counters.runs_counted);
	if (r >= 0)
		r = set_count(table, 3, block->runs);
	if (r >= 0)
		r = set_object(table, 4, top, block->object);
	return r < 0 ? r : set_range(table, 5, top, block);
}

static int add_columns(struct table *table, const struct column *columns)
{
	int r = 0;

	for (; r >= 0 && columns->name; columns++)
		r = table_add_column(table, columns->name, columns->flags);
	return r;
}

typedef int (*fill_row)(const struct top *top, struct table *table, size_t i);

static int write_rows(const struct top *top, struct output *output, const struct column *columns,
		      fill_row fill)
{
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	r = table_new(&table, output->f, output->width, output->colors);
	if (r >= 0)
		r = add_columns(table, columns);
	for (size_t i = 0; r >= 0 && i < top->n_shown; i++) {
		r = table_add_row(table);
		if (r >= 0)
			r = fill(top, table, top->first + i);
	}
	return r < 0 ? r : table_print(table);
}

/* "    symbol+0x12 (object)", the object always in full. */
static int write_frame(const struct top *top, struct output *output, struct location at,
		       bool is_leaf)
{
	struct place place = place_find(&top->places, at);
	const char *object = place_object_name(place.object);
	size_t n_around = strlen("     ()") + strlen(object);
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *fitting = NULL;

	text = is_leaf && place.function ? strdup(place.function->name) : place_format(&place);
	if (!text)
		return -ENOMEM;
	fitting = fit_name(text, output->width > n_around ? output->width - n_around : SIZE_MAX);
	if (!fitting)
		return -ENOMEM;
	fputs("    ", output->f);
	text_write(output->f, fitting);
	fputs(" (", output->f);
	text_write(output->f, object);
	fputs(")\n", output->f);
	return 0;
}

static int write_stack(const struct top *top, struct output *output, const struct view_stack *stack)
{
	uint64_t samples = top->source->all->counters.samples;
	uint32_t caller = stack->caller;
	int r;

	fprintf(output->f, "\n%s%.2f%%  %" PRIu64 " samples%s\n", COLOR_BOLD(output->colors),
		top_percent(stack->samples, samples), stack->samples, COLOR_RESET(output->colors));
	r = write_frame(top, output, stack->leaf, true);
	for (; r >= 0 && caller != PROFILE_NONE; caller = top->stacks->callers[caller].parent)
		r = write_frame(top, output, top->stacks->callers[caller].frame, false);
	return r;
}

static int write_stacks(const struct top *top, struct output *output)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < top->n_shown; i++)
		r = write_stack(top, output, &top->stacks->rows[top->first + i]);
	return r;
}

/* Why there is nothing to see, where that needs saying. */
static const char *why_empty(const struct top *top)
{
	const struct profile_counters *counters = &top->source->all->counters;
	bool is_recording = top->source->is_recording;

	if (top->source->filtered)
		return "nothing of that matches the filters";
	if ((top->by == VIEW_BRANCH || top->by == VIEW_BLOCK) && counters->rows == 0)
		return is_recording ? "no branch records in it: perf record -b takes them, where "
				      "the processor has any" :
				      "no branch records in it; branchctl status says why";
	if ((top->by == VIEW_BRANCH || top->by == VIEW_BLOCK) && counters->rows_call_stack > 0)
		return "its branch records are call stacks, and no branches";
	return "nothing was counted";
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
	case VIEW_BRANCH:
		return write_rows(top, output, branch_columns, fill_branch);
	case VIEW_BLOCK:
		return write_rows(top, output, block_columns, fill_block);
	default:
		return write_rows(top, output, shapes[top->by].columns, fill_share);
	}
}

int top_write_table(const struct top *top, struct output *output)
{
	int r;

	fputs(COLOR_DIM(output->colors), output->f);
	summary_write(output->f, top->source, top->by);
	fputs(COLOR_RESET(output->colors), output->f);
	r = top_write_rows(top, output);
	if (r < 0)
		return r;
	if (top->n_shown < top->n_rows)
		fprintf(output->f, "%s... %zu more, -n 0 shows all%s\n", COLOR_DIM(output->colors),
			top->n_rows - top->n_shown, COLOR_RESET(output->colors));
	return 0;
}
