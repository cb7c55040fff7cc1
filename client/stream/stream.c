/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profile has a tree for each process; these are merged. */
#include "client/stream/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/view/tree-merge.h"
#include "client/view/view.h"
#include "common/profile/other.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* The number of its node, or -ENOMEM. */
static int64_t find_node(struct view_streams *streams, struct tree_merge *merge,
			 const struct profile_stream *stream, uint32_t parent)
{
	int64_t number = tree_merge_find(merge, parent, stream->from, stream->to);

	if (number < 0 || (size_t)number < streams->n_nodes)
		return number;
	if (ARRAY_RESERVE(&streams->nodes, &streams->cap_nodes, streams->n_nodes + 1) < 0)
		return -ENOMEM;
	streams->nodes[streams->n_nodes++] = (struct view_stream_node){ .parent = parent,
									.from = stream->from,
									.to = stream->to };
	return number;
}

static int merge_trees(struct view_streams *streams, const struct profile *profile)
{
	_cleanup_(tree_merge_done) struct tree_merge merge = {};
	_cleanup_free_ uint32_t *merged = calloc(profile->n_streams + 1, sizeof(*merged));

	if (!merged)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_streams; i++) {
		const struct profile_stream *stream = &profile->streams[i];
		uint32_t parent =
			stream->parent == PROFILE_NONE ? PROFILE_NONE : merged[stream->parent];
		int64_t number;

		if (other_is_stream(stream)) /* it is none, and has nothing below it */
			continue;
		number = find_node(streams, &merge, stream, parent);
		if (number < 0)
			return (int)number;
		merged[i] = (uint32_t)number;
		streams->nodes[number].hits += stream->hits;
		streams->nodes[number].pruned += stream->pruned;
		streams->nodes[number].variance += stream->variance;
		streams->nodes[number].cycles += stream->cycles;
	}
	return 0;
}

static void add_up(struct view_streams *streams)
{
	for (size_t i = streams->n_nodes; i-- > 0;) {
		struct view_stream_node *node = &streams->nodes[i];

		node->through += node->hits;
		if (node->parent != PROFILE_NONE)
			streams->nodes[node->parent].through += node->through;
	}
}

static double cycles_of(const struct view_streams *streams, uint32_t i)
{
	double cycles = 0;

	for (; i != PROFILE_NONE; i = streams->nodes[i].parent)
		if (streams->nodes[i].through > 0)
			cycles += (double)streams->nodes[i].cycles /
				  (double)streams->nodes[i].through;
	return cycles;
}

static int compare_rows(const void *p, const void *q)
{
	const struct view_stream *a = p, *b = q;

	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return COMPARE(a->node, b->node);
}

static int make_rows(struct view_streams *streams)
{
	streams->rows = calloc(streams->n_nodes + 1, sizeof(*streams->rows));
	if (!streams->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < streams->n_nodes; i++) {
		const struct view_stream_node *node = &streams->nodes[i];

		if (node->hits > 0)
			streams->rows[streams->n_rows++] =
				(struct view_stream){ .node = i,
						      .hits = node->hits,
						      .variance = node->variance,
						      .pruned = node->pruned,
						      .cycles = cycles_of(streams, i) };
	}
	qsort(streams->rows, streams->n_rows, sizeof(*streams->rows), compare_rows);
	return 0;
}

int view_streams(struct view_streams **ret, const struct profile *profile)
{
	_cleanup_(view_streams_freep) struct view_streams *streams = calloc(1, sizeof(*streams));
	int r;

	if (!streams)
		return -ENOMEM;
	r = merge_trees(streams, profile);
	if (r < 0)
		return r;
	add_up(streams);
	r = make_rows(streams);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(streams);
	return 0;
}

struct view_streams *view_streams_free(struct view_streams *streams)
{
	if (!streams)
		return NULL;
	free(streams->rows);
	free(streams->nodes);
	free(streams);
	return NULL;
}

/* The root of the tree is the newest branch, so the way up leads from old to new. */
size_t view_stream_nodes(const struct view_streams *streams, uint32_t node, uint32_t *ret)
{
	size_t n = 0, i;

	for (uint32_t at = node; at != PROFILE_NONE; at = streams->nodes[at].parent)
		n++;
	i = n;
	for (uint32_t at = node; at != PROFILE_NONE; at = streams->nodes[at].parent)
		if (--i < VIEW_STREAM_MAX_ROWS)
			ret[i] = at;
	return MIN(n, (size_t)VIEW_STREAM_MAX_ROWS);
}

size_t view_stream_rows(const struct view_streams *streams, uint32_t node,
			struct view_stream_step *ret)
{
	uint32_t path[VIEW_STREAM_MAX_ROWS];
	size_t n = view_stream_nodes(streams, node, path);

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct view_stream_step){ .from = streams->nodes[path[i]].from,
						    .to = streams->nodes[path[i]].to,
						    .row = (uint32_t)i };
	return n;
}

static bool same_step(const struct view_stream_step *a, const struct view_stream_step *b)
{
	return view_compare_locations(a->from, b->from) == 0 &&
	       view_compare_locations(a->to, b->to) == 0;
}

/* How often the first @length steps are repeated. */
static size_t count_turns(const struct view_stream_step *steps, size_t n, size_t length)
{
	size_t same = length;

	while (same < n && same_step(&steps[same], &steps[same - length]))
		same++;
	return same / length;
}

/* The steps of a turn of the loop that covers most of @steps; 0 if there is none. */
static size_t find_loop(const struct view_stream_step *steps, size_t n, size_t *ret_turns)
{
	size_t best = 0, most = 0;

	for (size_t length = 1; length <= n / 2; length++) {
		size_t turns = count_turns(steps, n, length);

		if (turns < 2 || turns * length <= most)
			continue;
		most = turns * length;
		best = length;
		*ret_turns = turns;
	}
	return best;
}

size_t view_stream_path(const struct view_streams *streams, uint32_t node,
			struct view_stream_step *ret)
{
	size_t n = view_stream_rows(streams, node, ret), n_kept = 0, turns = 1;

	for (size_t i = 0; i < n;) {
		size_t loop = find_loop(ret + i, n - i, &turns);
		size_t length = loop ? loop : 1;

		memmove(ret + n_kept, ret + i, length * sizeof(*ret));
		if (loop) {
			ret[n_kept].n_loop = (uint32_t)length;
			ret[n_kept].n_turns = (uint32_t)turns;
		}
		n_kept += length;
		i += length * (loop ? turns : 1);
	}
	return n_kept;
}
