/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/stream.h"

#include <errno.h>

#include "common/builder/path-fold.h"
#include "common/util/macro.h"

/* Of a number of samples, what any one path may lack. */
#define SHARE 1000u

/* The row that the path comes to after @i others. */
static const struct counted_row *nth_row(const struct stream *s, size_t i)
{
	return &s->rows[s->n - 1 - i];
}

/* Does the path of the newest @i rows go on with the one before? */
static bool goes_on(const struct stream *s, size_t i)
{
	uint32_t run;

	if (i == 0 || i == s->n)
		return i == 0;
	run = s->rows[s->n - i].run;
	return run != RUN_NONE && run != RUN_LONG && run != RUN_BACKWARD;
}

/*
 * The nodes that a sample may add. A path of STREAM_MAX_ROWS is complete after STREAM_MAX_ROWS / reach samples,
 * which shall be no more than half of the share.
 */
static size_t reach(uint64_t n_paths)
{
	uint64_t n = STREAM_MAX_ROWS * 2 * SHARE / (n_paths + 1);

	n = MIN(n, (uint64_t)STREAM_MAX_ROWS);
	return MAX(n, (uint64_t)1);
}

static int make_room(struct path_tree *tree)
{
	return tree->n_nodes + STREAM_MAX_ROWS > tree->max_nodes ? path_fold_half(tree) : 0;
}

static size_t n_ahead(const struct stream *s)
{
	return MIN(s->n, (size_t)STREAM_AHEAD);
}

void stream_begin(struct stream *stream, const struct path_tree *tree, uint32_t context,
		  const struct counted_row *rows, size_t n)
{
	uint64_t hash = path_begin(context).hash;

	stream->rows = rows;
	stream->n = n;
	stream->context = context;
	for (size_t i = 0; i < n_ahead(stream); i++) {
		const struct counted_row *row = nth_row(stream, i);

		hash = stream->hashes[i] = path_hash(hash, row->from, row->to);
		path_tree_prefetch(tree, hash);
	}
}

void stream_prefetch(const struct stream *stream, const struct path_tree *tree)
{
	for (size_t i = 0; i < n_ahead(stream); i++)
		path_tree_prefetch_node(tree, stream->hashes[i]);
}

int stream_add(const struct stream *stream, struct path_tree *tree)
{
	struct path path = path_begin(stream->context);
	size_t i = 0, end;

	if (_unlikely_(make_room(tree) < 0))
		return -ENOMEM;
	for (; goes_on(stream, i); i++) {
		const struct counted_row *row = nth_row(stream, i);
		uint64_t hash = path_hash(path.hash, row->from, row->to);
		uint32_t next = path_tree_find(tree, hash, &path, row->from, row->to);

		if (next == 0)
			break;
		path.hash = hash;
		path.node = next;
		tree->nodes[next].amount += row->cycles;
	}
	end = i + reach(tree->n_paths);
	for (; i < end && goes_on(stream, i); i++) {
		const struct counted_row *row = nth_row(stream, i);
		uint32_t missed = path_missed_below(tree, &tree->nodes[path.node]);
		int r = path_tree_add(tree, &path, row->from, row->to, missed);

		if (r < 0)
			return r;
		tree->nodes[path.node].amount += row->cycles;
	}
	tree->n_paths++;
	tree->nodes[path.node].hits++;
	tree->nodes[path.node].folded += goes_on(stream, i);
	return 0;
}

int stream_fold(struct path_tree *tree, uint32_t light)
{
	return path_fold(tree, MAX((uint32_t)(tree->n_paths / SHARE), light));
}
