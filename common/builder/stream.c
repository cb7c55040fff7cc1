/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/stream.h"

#include <errno.h>

#include "common/builder/path-fold.h"
#include "common/util/macro.h"

/* Of a number of samples, what any one path may lack. */
#define SHARE 1000u

static bool is_joined(const struct counted_row *row)
{
	return row->run != RUN_NONE && row->run != RUN_LONG && row->run != RUN_BACKWARD;
}

/* How many of the rows, from the newest on, are the path. */
static size_t path_length(const struct counted_row *rows, size_t n)
{
	size_t length = 1;

	while (length < n && is_joined(&rows[n - length]))
		length++;
	return length;
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

static int64_t add_next(struct path_tree *tree, uint32_t context, uint32_t node,
			const struct counted_row *row)
{
	uint32_t missed = path_missed_below(tree, &tree->nodes[node]);

	return path_tree_get(tree, context, node, row->from, row->to, missed);
}

int stream_add(struct path_tree *tree, uint32_t context, const struct counted_row *rows, size_t n)
{
	size_t length = path_length(rows, n), i = 0, end;
	uint64_t hash = path_hash_begin(context);
	uint32_t node = PATH_ROOT, next;

	if (_unlikely_(make_room(tree) < 0))
		return -ENOMEM;
	for (; i < length; i++) {
		const struct counted_row *row = &rows[n - 1 - i];

		hash = path_hash(hash, row->from, row->to);
		next = path_tree_find(tree, hash, context, node, row->from, row->to);
		if (next == 0)
			break;
		node = next;
		tree->nodes[node].amount += row->cycles;
	}
	end = MIN(length, i + reach(tree->n_paths));
	for (; i < end; i++) {
		const struct counted_row *row = &rows[n - 1 - i];
		int64_t made = add_next(tree, context, node, row);

		if (made < 0)
			return (int)made;
		node = (uint32_t)made;
		tree->nodes[node].amount += row->cycles;
	}
	tree->n_paths++;
	tree->nodes[node].hits++;
	tree->nodes[node].folded += end < length;
	return 0;
}

int stream_fold(struct path_tree *tree, uint32_t light)
{
	return path_fold(tree, MAX((uint32_t)(tree->n_paths / SHARE), light));
}
