/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/line-stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/parts.h"
#include "client/diff/stream-noise.h"
#include "client/stream/line-loader.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

struct pairing {
	struct diff_streams *streams;
	const struct comparison *with;
	struct fault *fault;
	struct places places[N_SIDES];
	uint32_t *rows; /* by node of the tree */
	struct diff_parts parts;
};

static void pairing_done(struct pairing *p)
{
	free(p->rows);
	diff_parts_done(&p->parts);
}

/* The frame of the new side where the old place is, as far as that is known. */
static int find_new_frame(struct pairing *p, struct location at, const struct place *old_place,
			  struct stream_frame *ret)
{
	struct location new_at, own;
	struct place near, place;
	uint32_t line;
	int r = address_map_find_new(p->with->addresses, at, &new_at, &own, p->fault);

	if (r <= 0)
		return r;
	near = place_find(&p->places[SIDE_OLD], own);
	line = near.line;
	if (near.file && old_place->file && strcmp(near.file, old_place->file) != 0)
		return 0;
	place = place_find(&p->places[SIDE_NEW], new_at);
	ret->file = place.file;
	if (place.file)
		ret->at = (uint64_t)place.line + old_place->line - line;
	else if (own.offset == at.offset)
		ret->at = new_at.offset - place.function->start;
	else
		ret->at = ~at.offset; /* no new offset is that large */
	return 0;
}

/* Where another function continues, not begins. Recursion is not known for one. */
static bool is_return(const struct places *places, const struct place *to,
		      const struct view_stream_node *node)
{
	return to->file && to->function && to->function->start != node->to.offset &&
	       place_find(places, node->from).function != to->function;
}

/*
 * @target_of: NULL, or the branch whose target this is. In changed code what follows a call may be
 * another line, but the call is the same: so a return belongs to the line of its call, in all code,
 * because what counts as changed must not change the pairs.
 *
 * Sets *@ret_changed, too. The number of the frame; or -errno.
 */
static int64_t number_place(struct pairing *p, enum side side, struct location at,
			    const struct view_stream_node *target_of, bool *ret_changed)
{
	struct mapped_address mapped;
	struct stream_frame frame;
	struct place place;
	int r = address_map_find(p->with->addresses, side, at, true, &mapped, p->fault);

	if (r < 0)
		return r;
	place = place_find(&p->places[side], at);
	*ret_changed = mapped.kind == MAPPED_NONE && mapped.function;
	if (target_of && is_return(&p->places[side], &place, target_of)) {
		at.offset--;
		place = place_find(&p->places[side], at);
	}
	frame = (struct stream_frame){
		.object = mapped.identity,
		.function = (uintptr_t)mapped.function,
		.file = place.file,
		.at = place.file     ? place.line :
		      place.function ? at.offset - place.function->start :
				       at.offset,
	};
	if (side == SIDE_OLD)
		r = find_new_frame(p, at, &place, &frame);
	return r < 0 ? r : stream_tree_number(p->streams->tree, &frame);
}

/* 1 if the run from the branch of @node to the newer one was changed; 0; or -errno. */
static int is_run_changed(struct pairing *p, enum side side, const struct view_streams *view,
			  const struct view_stream_node *node)
{
	struct mapped_address ends[2];
	struct profile_block run;
	int r;

	if (node->parent == PROFILE_NONE || node->to.object == PROFILE_NONE)
		return 0;
	run = (struct profile_block){ .object = node->to.object,
				      .start = node->to.offset,
				      .end = view->nodes[node->parent].from.offset };
	r = address_map_find_block(p->with->addresses, side, &run, true, ends, p->fault);
	return r < 0 ? r : ends[0].kind == MAPPED_NONE && ends[0].function;
}

static int number_branches(struct pairing *p, enum side side, const struct view_streams *view,
			   struct stream_branch *branches)
{
	for (size_t i = 0; i < view->n_nodes; i++) {
		const struct view_stream_node *node = &view->nodes[i];
		struct stream_branch *branch = &branches[i];
		int64_t to = number_place(p, side, node->to, node, &branch->to_changed), from;
		int r;

		if (to < 0)
			return (int)to;
		from = number_place(p, side, node->from, NULL, &branch->from_changed);
		if (from < 0)
			return (int)from;
		r = is_run_changed(p, side, view, node);
		if (r < 0)
			return r;
		branch->to_changed |= r > 0;
		branch->to = (uint32_t)to;
		branch->from = (uint32_t)from;
	}
	return 0;
}

static int add_side(struct pairing *p, enum side side)
{
	const struct profile_source *source = p->with->sources[side];
	_cleanup_(view_streams_freep) struct view_streams *view = NULL;
	_cleanup_free_ struct stream_branch *branches = NULL;
	int r = view_streams(&view, source->shown);

	if (r >= 0)
		r = ARRAY_ALLOCATE_ZEROED(&branches, view->n_nodes);
	if (r >= 0)
		r = line_loader_load_streams(view, source->shown, source->symbolizer);
	if (r >= 0)
		r = number_branches(p, side, view, branches);
	return r < 0 ? r : stream_tree_add(p->streams->tree, side, view, branches);
}

static int add_part(struct pairing *p, enum side side, size_t part)
{
	_cleanup_(view_streams_freep) struct view_streams *view = NULL;
	_cleanup_free_ struct stream_branch *branches = NULL;
	int r = stream_noise_view_part(&view, p->with, side, part);

	if (r >= 0)
		r = ARRAY_ALLOCATE_ZEROED(&branches, view->n_nodes);
	if (r >= 0)
		r = number_branches(p, side, view, branches);
	for (size_t i = 0; r >= 0 && i < view->n_rows; i++) {
		int64_t node =
			stream_tree_find(p->streams->tree, view, branches, view->rows[i].node);

		if (node < 0)
			r = (int)node;
		else if (node != PROFILE_NONE && p->rows[node] != PROFILE_NONE)
			*diff_parts_count(&p->parts, side, p->rows[node], part) +=
				view->rows[i].hits;
	}
	p->parts.all[side][part] = p->with->sources[side]->parts[part].samples;
	return r;
}

/* The change of the newest frame of the stream that was changed; or -errno. */
static int find_change(struct pairing *p, uint32_t node)
{
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n = stream_tree_path(p->streams->tree, node, path);

	for (size_t i = 0; i < n * N_SIDES; i++) {
		enum side side = (enum side)(i % N_SIDES);
		const struct stream_tree_end *end =
			&stream_tree_node(p->streams->tree, path[i / N_SIDES])->ends[side];
		struct mapped_address mapped;
		int r;

		if (!end->changed)
			continue;
		r = address_map_find(p->with->addresses, side, end->at, true, &mapped, p->fault);
		if (r < 0 || !mapped.function)
			return MIN(r, 0);
		return change_detector_find(p->with->detector, mapped.identity,
					    mapped.function->name, p->fault);
	}
	return CHANGE_NONE;
}

static enum diff_stream_section section_of(const struct diff_stream *row)
{
	if (!row->ends[SIDE_NEW].there)
		return DIFF_STREAM_OLD;
	if (!row->ends[SIDE_OLD].there)
		return DIFF_STREAM_NEW;
	return row->change ? DIFF_STREAM_CHANGED : DIFF_STREAM_MATCHED;
}

static int fill_row(struct pairing *p, const struct stream_tree_row *from, struct diff_stream *row,
		    size_t number)
{
	const struct stream_tree_node *node = stream_tree_node(p->streams->tree, from->node);
	int change = find_change(p, from->node);

	for (int side = 0; side < N_SIDES; side++)
		row->ends[side] = (struct diff_stream_end){
			.there = from->hits[side] > 0,
			.node = from->node,
			.hits = from->hits[side],
			.variance = from->variance[side],
			/* a longer stream may have those that are pruned here */
			.pruned = node->ends[side].through > from->hits[side] ?
					  node->ends[side].pruned :
					  0,
			.cycles = from->cycles[side],
			.n_continuations = from->n_continuations[side],
			.number = number,
		};
	row->change = change < 0 ? CHANGE_NONE : (enum change)change;
	row->section = section_of(row);
	return MIN(change, 0);
}

static int make_rows(struct pairing *p)
{
	struct diff_streams *streams = p->streams;
	size_t n, n_nodes = 0;
	const struct stream_tree_row *rows = stream_tree_rows(streams->tree, &n);
	int r = 0;

	for (size_t i = 0; i < n; i++)
		n_nodes = MAX(n_nodes, (size_t)rows[i].node + 1);
	streams->rows = calloc(n + 1, sizeof(*streams->rows));
	streams->n_rows = streams->n_compared = n;
	if (!streams->rows || ARRAY_ALLOCATE(&p->rows, n_nodes) < 0)
		return -ENOMEM;
	memset(p->rows, 0xff, n_nodes * sizeof(*p->rows));
	for (size_t i = 0; r >= 0 && i < n; i++) {
		p->rows[rows[i].node] = (uint32_t)i;
		r = fill_row(p, &rows[i], &streams->rows[i], i);
	}
	return r;
}

static int match(struct pairing *p)
{
	int r = 0;

	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = add_side(p, (enum side)side);
	if (r >= 0)
		r = stream_tree_end(p->streams->tree);
	if (r >= 0)
		r = make_rows(p);
	if (r >= 0)
		r = diff_parts_init(&p->parts, p->with, p->streams->n_rows);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		for (size_t i = 0; r >= 0 && i < p->parts.n[side]; i++)
			r = add_part(p, (enum side)side, i);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->streams->n_rows; i++)
		stream_noise_test(&p->streams->rows[i], p->with, &p->parts, i);
	return stream_noise_control(p->streams);
}

int diff_line_streams_new(struct diff_streams **ret, const struct comparison *with, uint32_t depth,
			  double percent_limit, struct fault *fault)
{
	_cleanup_(diff_streams_freep) struct diff_streams *streams = calloc(1, sizeof(*streams));
	_cleanup_(pairing_done) struct pairing p = {
		.streams = streams,
		.with = with,
		.fault = fault,
	};
	int r = streams ? stream_tree_new(&streams->tree, depth) : -ENOMEM;

	fault->text[0] = '\0';
	for (int side = 0; side < N_SIDES; side++)
		p.places[side] = (struct places){ .profile = with->sources[side]->shown,
						  .symbolizer = with->sources[side]->symbolizer,
						  .lines = true };
	if (r >= 0)
		r = match(&p);
	if (r < 0)
		return fault->text[0] ? r : fault_set(fault, r, "%s", strerror(-r));
	stream_noise_choose(streams, percent_limit);
	*ret = TAKE_PTR(streams);
	return 0;
}
