/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stream/line-stream.h"

#include <errno.h>
#include <stdlib.h>

#include "client/stream/line-loader.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

struct view_line_streams *view_line_streams_free(struct view_line_streams *streams)
{
	if (!streams)
		return NULL;
	stream_tree_free(streams->tree);
	free(streams->rows);
	free(streams);
	return NULL;
}

static int64_t number_place(struct stream_tree *tree, const struct places *places,
			    struct location at)
{
	struct place place = place_find(places, at);
	struct stream_frame frame = {
		.object = at.object,
		.function = place.function ? place.function->start : 0,
		.file = place.file,
		.at = place.file ? place.line : at.offset,
	};

	return stream_tree_number(tree, &frame);
}

static int number_branches(struct stream_tree *tree, const struct places *places,
			   const struct view_streams *view, struct stream_branch *branches)
{
	for (size_t i = 0; i < view->n_nodes; i++) {
		int64_t to = number_place(tree, places, view->nodes[i].to);
		int64_t from = number_place(tree, places, view->nodes[i].from);

		if (to < 0 || from < 0)
			return -ENOMEM;
		branches[i] = (struct stream_branch){ .to = (uint32_t)to, .from = (uint32_t)from };
	}
	return 0;
}

static int add_view(struct stream_tree *tree, const struct places *places)
{
	_cleanup_(view_streams_freep) struct view_streams *view = NULL;
	_cleanup_free_ struct stream_branch *branches = NULL;
	int r = view_streams(&view, places->profile);

	if (r >= 0)
		r = ARRAY_ALLOCATE_ZEROED(&branches, view->n_nodes);
	if (r >= 0)
		r = line_loader_load_streams(view, places->profile, places->symbolizer);
	if (r >= 0)
		r = number_branches(tree, places, view, branches);
	return r < 0 ? r : stream_tree_add(tree, SIDE_OLD, view, branches);
}

static int compare_rows(const void *p, const void *q)
{
	const struct view_stream *a = p, *b = q;

	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return COMPARE(a->node, b->node);
}

static int make_rows(struct view_line_streams *streams)
{
	const struct stream_tree_row *rows = stream_tree_rows(streams->tree, &streams->n_rows);

	if (ARRAY_ALLOCATE(&streams->rows, streams->n_rows) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < streams->n_rows; i++)
		streams->rows[i] = (struct view_stream){
			.node = rows[i].node,
			.hits = rows[i].hits[SIDE_OLD],
			.variance = rows[i].variance[SIDE_OLD],
			.pruned = rows[i].pruned[SIDE_OLD],
			.cycles = rows[i].cycles[SIDE_OLD],
			.n_continuations = rows[i].n_continuations[SIDE_OLD],
		};
	qsort(streams->rows, streams->n_rows, sizeof(*streams->rows), compare_rows);
	return 0;
}

int view_line_streams(struct view_line_streams **ret, const struct places *places, uint32_t depth)
{
	_cleanup_(view_line_streams_freep) struct view_line_streams *streams =
		calloc(1, sizeof(*streams));
	int r = streams ? stream_tree_new(&streams->tree, depth) : -ENOMEM;

	if (r >= 0)
		r = add_view(streams->tree, places);
	if (r >= 0)
		r = stream_tree_end(streams->tree);
	if (r >= 0)
		r = make_rows(streams);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(streams);
	return 0;
}
