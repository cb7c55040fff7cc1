/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/top-json.h"

#include "client/render/hosts.h"
#include "client/render/json.h"
#include "client/render/share-name.h"
#include "client/render/stream-json.h"
#include "client/view/branch.h"
#include "common/profile/scale.h"
#include "common/util/percent.h"

/* Enough digits for percentages. */
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
	return json_real(percent_of(part, all));
}

static json_t *json_average(uint64_t sum, uint64_t n)
{
	return n > 0 ? json_real((double)sum / (double)n) : json_null();
}

static void set_predictions(json_t *row, const struct share *share)
{
	json_object_set_new(row, "predicted", json_count(share->predicted));
	json_object_set_new(row, "mispredicted", json_count(share->mispredicted));
	json_object_set_new(
		row, "mispredicted_percent",
		json_share(share->mispredicted, share->mispredicted + share->predicted));
}

/* Only where samples are estimated is @unit, of profile_sample_unit() or the like, above 1. */
static void set_effect(json_t *row, const char *name, uint64_t count, double unit)
{
	if (count > 0 && unit > 1)
		json_object_set_new(row, name, json_real(unit));
}

static json_t *share_row(const struct top *top, size_t i)
{
	const struct share *share = &top->shares->rows[i];
	const struct profile_counters *all = &top->source->all->counters;
	json_t *row = share_name_json(&top->places, top->by, &share->key);

	if (top->owner)
		json_object_update_new(row, share_name_json(&top->places, top->owner, &share->key));
	json_object_set_new(row, "self", json_count(share->self));
	json_object_set_new(row, "total", json_count(share->total));
	json_object_set_new(row, "self_percent", json_share(share->self, all->samples));
	json_object_set_new(row, "total_percent", json_share(share->total, all->samples));
	set_effect(row, "self_design_effect", share->self,
		   profile_row_unit(all, share->self, share->self_variance));
	set_effect(row, "total_design_effect", share->total,
		   profile_row_unit(all, share->total, share->total_variance));
	if (top->mispredicted)
		set_predictions(row, share);
	return row;
}

static json_t *stack_row(const struct top *top, size_t i)
{
	const struct view_stack *stack = &top->stacks->rows[i];
	const struct profile_counters *all = &top->source->all->counters;
	uint32_t caller = stack->caller;
	json_t *frames = json_array(), *row;

	json_array_append_new(frames, json_location(top, stack->leaf));
	for (; caller != PROFILE_NONE; caller = top->stacks->callers[caller].parent)
		json_array_append_new(frames,
				      json_location(top, top->stacks->callers[caller].frame));
	row = json_pack("{s:o, s:o, s:o, s:o}", "frames", frames, "samples",
			json_count(stack->samples), "percent",
			json_share(stack->samples, all->samples), "stitched",
			json_count(stack->stitched));
	set_effect(row, "design_effect", stack->samples,
		   profile_stack_unit(all, stack->samples, stack->variance, stack->group.samples));
	return row;
}

static json_t *tree_row(const struct top *top, size_t i)
{
	const struct view_tree_row *row = &top->tree->rows[i];
	uint64_t samples = top->source->all->counters.samples;
	json_t *parent = row->parent == PROFILE_NONE ? json_null() : json_count(row->parent);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "frame",
			 json_location(top, row->frame), "depth", json_count(row->depth), "parent",
			 parent, "self", json_count(row->self), "total", json_count(row->total),
			 "self_percent", json_share(row->self, samples), "total_percent",
			 json_share(row->total, samples));
}

static json_t *stream_row(const struct top *top, size_t i)
{
	const struct view_stream *stream =
		top->streams ? &top->streams->rows[i] : &top->line_streams->rows[i];
	const struct profile_counters *all = &top->source->all->counters;
	json_t *row = top->streams ? stream_json(&top->places, top->streams, stream->node) :
				     stream_json_lines(&top->places, top->line_streams->tree,
						       SIDE_OLD, stream->node);

	json_object_set_new(row, "hits", json_count(stream->hits));
	json_object_set_new(row, "percent", json_share(stream->hits, all->samples));
	set_effect(row, "design_effect", stream->hits,
		   profile_row_unit(all, stream->hits, stream->variance));
	json_object_set_new(row, "pruned", json_count(stream->pruned));
	json_object_set_new(row, "cycles",
			    stream->cycles > 0 ? json_real(stream->cycles) : json_null());
	if (top->line_streams)
		json_object_set_new(row, "continuations", json_count(stream->n_continuations));
	return row;
}

static json_t *json_kind(const struct top *top, const struct profile_branch *branch)
{
	enum branch_kind kind;

	if (branch_class_find(top->class, branch, &kind) < 0)
		return NULL;
	return json_text(branch_kind_name(kind));
}

/* Of a pair of functions: a location without an offset. */
static json_t *json_end(const struct top *top, struct location at)
{
	json_t *end = json_location(top, at);

	if (top->by == VIEW_BRANCH)
		json_object_set_new(end, "symbol_offset", json_null());
	return end;
}

static json_t *branch_row(const struct top *top, size_t i)
{
	const struct profile_branch *branch = &top->branches[i];
	uint64_t n_known = branch->mispredicted + branch->predicted;
	const struct profile_counters *all = &top->source->all->counters;

	json_t *row = json_pack("{s:o, s:o}", "from", json_end(top, branch->from), "to",
				json_end(top, branch->to));

	if (top->by == VIEW_BRANCH_SITE)
		json_object_set_new(row, "kind", json_kind(top, branch));
	json_object_set_new(row, "count", json_count(branch->taken));
	json_object_set_new(row, "percent", json_share(branch->taken, top->n_taken));
	set_effect(row, "design_effect", branch->taken,
		   profile_row_unit(all, branch->taken, branch->variance));
	json_object_set_new(row, "cycles", json_count(branch->cycles));
	json_object_set_new(row, "cycles_rows", json_count(branch->cycles_rows));
	json_object_set_new(row, "predicted", json_count(branch->predicted));
	json_object_set_new(row, "mispredicted", json_count(branch->mispredicted));
	json_object_set_new(row, "mispredicted_percent",
			    n_known > 0 ? json_share(branch->mispredicted, n_known) : json_null());
	json_object_set_new(row, "mispredicted_percent_low",
			    n_known > 0 ? json_real(100 * view_branch_surely(all, branch)) :
					  json_null());
	return row;
}

static json_t *block_row(const struct top *top, size_t i)
{
	const struct profile_block *block = &top->blocks[i];
	struct location start = { block->object, block->start },
			end = { block->object, block->end };
	const struct profile_counters *all = &top->source->all->counters;
	json_t *row = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "start", json_location(top, start),
		"end", json_location(top, end), "count", json_count(block->runs), "percent",
		json_share(block->runs, all->runs_counted), "cycles", json_count(block->cycles),
		"cycles_rows", json_count(block->cycles_rows), "average_cycles",
		json_average(block->cycles, block->cycles_rows), "cycles_percent",
		top->block_cycles > 0 ? json_share(block->cycles, top->block_cycles) : json_null());

	set_effect(row, "design_effect", block->runs,
		   profile_row_unit(all, block->runs, block->variance));
	return row;
}

static json_t *make_row(const struct top *top, size_t i)
{
	switch (top->by) {
	case VIEW_STACK:
		return top->tree ? tree_row(top, i) : stack_row(top, i);
	case VIEW_STREAM:
		return stream_row(top, i);
	case VIEW_BRANCH:
	case VIEW_BRANCH_SITE:
		return branch_row(top, i);
	case VIEW_BLOCK:
		return block_row(top, i);
	default:
		return share_row(top, i);
	}
}

static int write_rows(const struct top *top, FILE *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < top->n_shown; i++) {
		fputs(i > 0 ? ",\n" : "\n", f);
		r = json_write(f, make_row(top, i), PRECISION);
	}
	return r;
}

int top_write_json(const struct top *top, FILE *f)
{
	int r;

	fputs("{\"windows\": ", f);
	r = json_write(f, json_windows(top->source), JSON_TIME_PRECISION);
	if (r < 0)
		return r;
	fprintf(f, ", \"by\": \"%s\"", view_name(top->by));
	if (top->owner)
		fprintf(f, ", \"owner\": \"%s\"", view_name(top->owner));
	if (top->tree)
		fprintf(f, ", \"tree\": \"%s\"", view_tree_name(top->tree_first));
	if (top->source->n_hosts > 0) {
		fputs(", \"hosts\": ", f);
		r = json_write(f, json_hosts(top->source), PRECISION);
		if (r < 0)
			return r;
	}
	fputs(", \"totals\": ", f);
	r = json_write(f, json_totals(top->source), PRECISION);
	if (r < 0)
		return r;
	fputs(", \"rows\": [", f);
	r = write_rows(top, f);
	if (r < 0)
		return r;
	fprintf(f, "], \"rows_omitted\": %zu}\n", top_n_omitted(top));
	return 0;
}
