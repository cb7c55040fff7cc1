/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The trees of both sides are merged: the key of a node is its parent, and the mapped addresses of
 * its branch and of the run from that to the newer branch.
 */
#include "client/diff/stream.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/parts.h"
#include "client/diff/stream-noise.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct key {
	struct mapped_address from, to;   /* the branch */
	struct mapped_address start, end; /* the run from it to the newer branch */
	uint64_t parent;                  /* the number of the newer one, or PROFILE_NONE */
};

struct node_entry {
	struct key key;
	size_t number;
	UT_hash_handle hh;
};

struct matching {
	struct diff_streams *streams;
	const struct comparison *with;
	struct fault *fault;
	struct node_entry *entries;
	enum change *changes; /* by number: of the newest changed branch up to it */
	size_t n_changes, cap_changes;
	struct diff_parts parts;
};

static void matching_done(struct matching *m)
{
	struct node_entry *entry, *next;

	HASH_ITER(hh, m->entries, entry, next) {
		HASH_DEL(m->entries, entry);
		free(entry);
	}
	free(m->changes);
	diff_parts_done(&m->parts);
}

static int find_place(struct matching *m, enum side side, struct location at,
		      struct mapped_address *ret)
{
	struct mapped_address found;
	int r = address_map_find(m->with->addresses, side, at, true, &found, m->fault);

	if (r >= 0)
		memcpy(ret, &found, sizeof(found));
	return r;
}

/* The run after the branch of @node, up to that of @newer. */
static int find_run(struct matching *m, enum side side, const struct view_stream_node *node,
		    const struct view_stream_node *newer, struct key *ret)
{
	const struct profile_block block = {
		.object = node->to.object,
		.start = node->to.offset,
		.end = newer->from.offset,
	};
	struct mapped_address ends[2];
	int r = address_map_find_block(m->with->addresses, side, &block, true, ends, m->fault);

	if (r < 0)
		return r;
	memcpy(&ret->start, &ends[0], sizeof(ends[0]));
	memcpy(&ret->end, &ends[1], sizeof(ends[1]));
	return 0;
}

static int make_key(struct matching *m, enum side side, const struct view_streams *view, uint32_t i,
		    const uint64_t *numbers, struct key *ret)
{
	const struct view_stream_node *node = &view->nodes[i];
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->parent = PROFILE_NONE;
	r = find_place(m, side, node->from, &ret->from);
	if (r >= 0)
		r = find_place(m, side, node->to, &ret->to);
	if (r < 0 || node->parent == PROFILE_NONE)
		return r;
	ret->parent = numbers[node->parent];
	return find_run(m, side, node, &view->nodes[node->parent], ret);
}

static const struct mapped_address *find_changed(const struct key *key)
{
	const struct mapped_address *const places[] = { &key->start, &key->end, &key->from,
							&key->to };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (places[i]->kind == MAPPED_NONE && places[i]->function)
			return places[i];
	return NULL;
}

/* The enum change of the branch, or -errno. */
static int find_change(struct matching *m, const struct key *key)
{
	const struct mapped_address *place = find_changed(key);

	if (!place)
		return CHANGE_NONE;
	return change_detector_find(m->with->detector, place->identity, place->function->name,
				    m->fault);
}

/* The number of a new node. */
static int64_t add_number(struct matching *m, const struct key *key)
{
	struct node_entry *entry;
	int change = find_change(m, key);

	if (change < 0)
		return change;
	if (ARRAY_RESERVE(&m->changes, &m->cap_changes, m->n_changes + 1) < 0)
		return -ENOMEM;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->key = *key;
	entry->number = m->n_changes;
	HASH_ADD(hh, m->entries, key, sizeof(entry->key), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return -ENOMEM;
	}
	if (key->parent != PROFILE_NONE && m->changes[key->parent] != CHANGE_NONE)
		change = (int)m->changes[key->parent];
	m->changes[m->n_changes++] = (enum change)change;
	return (int64_t)entry->number;
}

/* Sets the number of each node of @view, new nodes included. @changed, unless NULL, is set for
 * nodes that were changed. */
static int number_nodes(struct matching *m, enum side side, const struct view_streams *view,
			uint64_t *numbers, bool *changed)
{
	for (uint32_t i = 0; i < view->n_nodes; i++) {
		struct node_entry *entry;
		struct key key;
		int64_t number;
		int r;

		r = make_key(m, side, view, i, numbers, &key);
		if (r < 0)
			return r;
		HASH_FIND(hh, m->entries, &key, sizeof(key), entry);
		number = entry ? (int64_t)entry->number : add_number(m, &key);
		if (number < 0)
			return (int)number;
		numbers[i] = (uint64_t)number;
		if (changed)
			changed[i] = find_changed(&key) != NULL;
	}
	return 0;
}

static int reserve_rows(struct diff_streams *streams, size_t n)
{
	if (ARRAY_RESERVE(&streams->rows, &streams->cap_rows, n) < 0)
		return -ENOMEM;
	for (; streams->n_rows < n; streams->n_rows++)
		streams->rows[streams->n_rows] = (struct diff_stream){};
	return 0;
}

/* Several streams may be one by their lines: the hottest comes first and represents them. */
static void add_stream(struct diff_stream *row, enum side side, const struct view_stream *stream,
		       size_t number)
{
	struct diff_stream_end *end = &row->ends[side];

	if (!end->there)
		*end = (struct diff_stream_end){
			.there = true,
			.passed = true,
			.node = stream->node,
			.cycles = stream->cycles,
			.number = number,
		};
	end->hits += stream->hits;
	end->variance += stream->variance;
	end->pruned += stream->pruned;
}

static int add_side(struct matching *m, enum side side)
{
	struct diff_streams *streams = m->streams;
	_cleanup_free_ uint64_t *numbers = NULL;
	struct view_streams *view;
	int r = view_streams(&streams->views[side], m->with->sources[side]->shown);

	if (r < 0)
		return r;
	view = streams->views[side];
	numbers = calloc(view->n_nodes + 1, sizeof(*numbers));
	streams->changed[side] = calloc(view->n_nodes + 1, sizeof(bool));
	if (!numbers || !streams->changed[side])
		return -ENOMEM;
	r = number_nodes(m, side, view, numbers, streams->changed[side]);
	if (r >= 0)
		r = reserve_rows(streams, m->n_changes);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < view->n_nodes; i++)
		streams->rows[numbers[i]].ends[side] =
			(struct diff_stream_end){ .passed = true, .node = i, .number = numbers[i] };
	for (size_t i = 0; i < view->n_rows; i++) {
		uint64_t number = numbers[view->rows[i].node];

		add_stream(&streams->rows[number], side, &view->rows[i], number);
	}
	return 0;
}

static int add_part(struct matching *m, enum side side, size_t part)
{
	size_t n_rows = m->streams->n_rows;
	_cleanup_(view_streams_freep) struct view_streams *view = NULL;
	_cleanup_free_ uint64_t *numbers = NULL;
	int r = stream_noise_view_part(&view, m->with, side, part);

	if (r < 0)
		return r;
	numbers = calloc(view->n_nodes + 1, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	r = number_nodes(m, side, view, numbers, NULL);
	for (size_t i = 0; r >= 0 && i < view->n_rows; i++) {
		uint64_t number = numbers[view->rows[i].node];

		if (number < n_rows)
			*diff_parts_count(&m->parts, side, number, part) +=
				view->rows[i].hits - view->rows[i].pruned;
	}
	m->parts.all[side][part] = m->with->sources[side]->parts[part].samples;
	return r;
}

static int add_parts(struct matching *m, enum side side)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->parts.n[side]; i++)
		r = add_part(m, side, i);
	return r;
}

/* A path also exists where longer paths contain it, though none ends there. */
static void find_passed(struct diff_stream *row)
{
	struct diff_stream_end *ends = row->ends;

	for (int side = 0; side < N_SIDES; side++)
		if (!ends[side].there && ends[side].passed && ends[!side].pruned > 0)
			ends[side].there = true;
}

static void classify(struct matching *m, size_t number)
{
	struct diff_stream *row = &m->streams->rows[number];
	const struct diff_stream_end *ends = row->ends;

	find_passed(row);
	stream_noise_test(row, m->with, &m->parts, number);
	row->change = m->changes[number];
	if (ends[SIDE_OLD].there && ends[SIDE_NEW].there)
		row->section = DIFF_STREAM_MATCHED;
	else if (ends[SIDE_NEW].there)
		row->section = DIFF_STREAM_NEW;
	else
		row->section = row->change ? DIFF_STREAM_CHANGED : DIFF_STREAM_OLD;
}

/* Most nodes are not streams: no sample ends there. */
static void drop_empty(struct diff_streams *streams)
{
	size_t n = 0;

	for (size_t i = 0; i < streams->n_rows; i++)
		if (streams->rows[i].ends[SIDE_OLD].there || streams->rows[i].ends[SIDE_NEW].there)
			streams->rows[n++] = streams->rows[i];
	streams->n_compared = streams->n_rows = n;
}

const struct diff_stream *diff_streams_most(const struct diff_streams *streams)
{
	const struct diff_stream *most = NULL;

	for (size_t i = 0; i < streams->n_rows; i++) {
		const struct diff_stream *row = &streams->rows[i];

		/* by line, changed code of one side may be the same path by other lines */
		if (streams->tree && row->change && row->section != DIFF_STREAM_CHANGED)
			continue;
		if (row->significant &&
		    (!most || fabs(row->share.difference) > fabs(most->share.difference)))
			most = row;
	}
	return most;
}

static int match(struct matching *m)
{
	int r = 0;

	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = add_side(m, side);
	if (r >= 0)
		r = diff_parts_init(&m->parts, m->with, m->streams->n_rows);
	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = add_parts(m, side);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->streams->n_rows; i++)
		classify(m, i);
	drop_empty(m->streams);
	return stream_noise_control(m->streams);
}

int diff_streams_new(struct diff_streams **ret, const struct comparison *with, double percent_limit,
		     struct fault *fault)
{
	_cleanup_(diff_streams_freep) struct diff_streams *streams = calloc(1, sizeof(*streams));
	_cleanup_(matching_done) struct matching m = {
		.streams = streams,
		.with = with,
		.fault = fault,
	};
	int r;

	if (!streams)
		return fault_set(fault, -ENOMEM, "out of memory");
	fault->text[0] = '\0';
	r = match(&m);
	if (r < 0)
		return fault->text[0] ? r : fault_set(fault, r, "%s", strerror(-r));
	stream_noise_choose(streams, percent_limit);
	*ret = TAKE_PTR(streams);
	return 0;
}

struct diff_streams *diff_streams_free(struct diff_streams *streams)
{
	if (!streams)
		return NULL;
	for (int side = 0; side < N_SIDES; side++) {
		view_streams_free(streams->views[side]);
		free(streams->changed[side]);
	}
	stream_tree_free(streams->tree);
	free(streams->rows);
	free(streams);
	return NULL;
}
