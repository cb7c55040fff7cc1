/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top-json.h"

#include <errno.h>

#include "client/writer-json.h"

/* Percentages are good for no more digits than that. */
#define PRECISION JSON_REAL_PRECISION(9)

static json_t *json_location(const struct top *top, struct location at)
{
	struct place place = place_find(&top->places, at);

	return json_place(&place);
}

static json_t *json_count(uint64_t count)
{
	return json_integer((json_int_t)count);
}

static json_t *json_share(uint64_t part, uint64_t all)
{
	return json_real(top_percent(part, all));
}

static json_t *json_average(uint64_t sum, uint64_t n)
{
	return n > 0 ? json_real((double)sum / (double)n) : json_null();
}

/* The name fields of a row that has an object: what the view names, then the object. */
static json_t *named_by_object(const struct top *top, const struct share_key *key)
{
	const struct profile_object *object =
		key->object == PROFILE_NONE ? NULL : &top->source->shown->objects[key->object];

	return json_pack("{s:o, s:o}", "object",
			 json_text(object && object->path[0] ? object->path : NULL), "build_id",
			 json_build_id(object));
}

/* Where the function starts; with inlined calls a row is of all functions of one name. */
static json_t *json_start(const struct top *top, const struct share_key *key)
{
	struct location start = { key->object, key->start };
	struct place place;

	if (!key->symbol || top->places.lines)
		return json_null();
	place = place_find(&top->places, start);
	return json_address(place.address);
}

static json_t *named_by_function(const struct top *top, const struct share_key *key)
{
	json_t *row = json_pack("{s:o, s:o}", "symbol", json_text(key->symbol), "address",
				json_start(top, key));
	json_t *object = named_by_object(top, key);

	json_object_update(row, object);
	json_decref(object);
	return row;
}

static json_t *named_by_line(const struct top *top, const struct share_key *key)
{
	json_t *row = json_pack("{s:o}", "line", json_line(key->file, key->line));
	json_t *object = named_by_object(top, key);

	json_object_update(row, object);
	json_decref(object);
	return row;
}

static json_t *named_by_process(const struct top *top, const struct share_key *key)
{
	const struct profile_process *process = NULL;

	if (key->process != PROFILE_NONE)
		process = &top->source->shown->processes[key->process];
	if (!process || process->pid < 0)
		return json_pack("{s:n, s:n, s:n, s:n}", "pid", "comm", "executable", "unit");
	return json_pack("{s:i, s:o, s:o, s:o}", "pid", process->pid, "comm",
			 json_text(process->comm), "executable", json_text(process->executable),
			 "unit", json_text(process->unit));
}

static json_t *named_by_unit(const struct top *top, const struct share_key *key)
{
	return json_pack("{s:o}", "unit", json_text(key->unit));
}

typedef json_t *(*name_function)(const struct top *top, const struct share_key *key);

static const name_function named_by[N_VIEWS] = {
	[VIEW_FUNCTION] = named_by_function, [VIEW_LINE] = named_by_line,
	[VIEW_OBJECT] = named_by_object,     [VIEW_PROCESS] = named_by_process,
	[VIEW_UNIT] = named_by_unit,
};

static json_t *share_row(const struct top *top, size_t i)
{
	const struct share *share = &top->shares->rows[i];
	uint64_t samples = top->source->all->counters.samples;
	json_t *row = named_by[top->by](top, &share->key);

	json_object_set_new(row, "self", json_count(share->self));
	json_object_set_new(row, "total", json_count(share->total));
	json_object_set_new(row, "self_percent", json_share(share->self, samples));
	json_object_set_new(row, "total_percent", json_share(share->total, samples));
	return row;
}

static json_t *stack_row(const struct top *top, size_t i)
{
	const struct view_stack *stack = &top->stacks->rows[i];
	uint64_t samples = top->source->all->counters.samples;
	uint32_t caller = stack->caller;
	json_t *frames = json_array();

	json_array_append_new(frames, json_location(top, stack->leaf));
	for (; caller != PROFILE_NONE; caller = top->stacks->callers[caller].parent)
		json_array_append_new(frames,
				      json_location(top, top->stacks->callers[caller].frame));
	return json_pack("{s:o, s:o, s:o, s:o}", "frames", frames, "samples",
			 json_count(stack->samples), "percent", json_share(stack->samples, samples),
			 "stitched", json_count(stack->stitched));
}

static json_t *branch_row(const struct top *top, size_t i)
{
	const struct profile_branch *branch = &top->branches[i];
	uint64_t all = top->source->all->counters.rows_counted;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "from",
			 json_location(top, branch->from), "to", json_location(top, branch->to),
			 "count", json_count(branch->taken), "percent",
			 json_share(branch->taken, all), "mispredicted",
			 json_count(branch->mispredicted), "cycles", json_count(branch->cycles),
			 "cycles_rows", json_count(branch->cycles_rows));
}

static json_t *block_row(const struct top *top, size_t i)
{
	const struct profile_block *block = &top->blocks[i];
	struct location start = { block->object, block->start },
			end = { block->object, block->end };
	uint64_t all = top->source->all->counters.runs_counted;

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "start", json_location(top, start),
		"end", json_location(top, end), "count", json_count(block->runs), "percent",
		json_share(block->runs, all), "cycles", json_count(block->cycles), "cycles_rows",
		json_count(block->cycles_rows), "average_cycles",
		json_average(block->cycles, block->cycles_rows), "cycles_percent",
		top->block_cycles > 0 ? json_share(block->cycles, top->block_cycles) : json_null());
}

static json_t *make_row(const struct top *top, size_t i)
{
	switch (top->by) {
	case VIEW_STACK:
		return stack_row(top, i);
	case VIEW_BRANCH:
		return branch_row(top, i);
	case VIEW_BLOCK:
		return block_row(top, i);
	default:
		return share_row(top, i);
	}
}

/* Writes @value and drops it. */
static int write_value(FILE *f, json_t *value, size_t precision)
{
	if (!value)
		return -ENOMEM;
	json_dumpf(value, f, precision);
	json_decref(value);
	return 0;
}

static int write_rows(const struct top *top, FILE *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < top->n_shown; i++) {
		fputs(i > 0 ? ",\n" : "\n", f);
		r = write_value(f, make_row(top, i), PRECISION);
	}
	return r;
}

int top_write_json(const struct top *top, FILE *f)
{
	int r;

	fputs("{\"windows\": ", f);
	r = write_value(f, json_windows(top->source), JSON_TIME_PRECISION);
	if (r < 0)
		return r;
	fprintf(f, ", \"by\": \"%s\", \"totals\": ", view_name(top->by));
	r = write_value(f, json_totals(&top->source->all->counters), PRECISION);
	if (r < 0)
		return r;
	fputs(", \"rows\": [", f);
	r = write_rows(top, f);
	if (r < 0)
		return r;
	fprintf(f, "], \"rows_omitted\": %zu}\n", top->n_rows - top->n_shown);
	return 0;
}
