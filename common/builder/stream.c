/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/stream.h"

#include <errno.h>

#include "common/builder/path-fold.h"
#include "common/util/macro.h"

/* Of a number of samples, what any one path may lack. */
#define SHARE 1000u

/* Does the path of the newest @i rows go on with the one before? */
static bool goes_on(const struct counted_row *rows, size_t n, size_t i)
{
	uint32_t run;

	if (i == 0 || i == n)
		return i == 0;
	run = rows[n - i].run;
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

int stream_add(struct path_tree *tree, uint32_t context, const struct counted_row *rows, size_t n)
{
	uint64_t hash = path_hash_begin(context), longer;
	uint32_t node = PATH_ROOT, next;
	size_t i = 0, end;

	if (_unlikely_(make_room(tree) < 0))
		return -ENOMEM;
	for (; goes_on(rows, n, i); i++) {
		const struct counted_row *row = &rows[n - 1 - i];

		longer = path_hash(hash, row->from, row->to);
		next = path_tree_find(tree, longer, context, node, row->from, row->to);
		if (next == 0)
			break;
		hash = longer;
		node = next;
		tree->nodes[node].amount += row->cycles;
	}
	end = i + reach(tree->n_paths);
	for (; i < end && goes_on(rows, n, i); i++) {
		const struct counted_row *row = &rows[n - 1 - i];
		uint32_t missed = path_missed_below(tree, &tree->nodes[node]);
		int64_t made;

		hash = path_hash(hash, row->from, row->to);
		made = path_tree_add(tree, hash, context, node, row->from, row->to, missed);
		if (made < 0)
			return (int)made;
		node = (uint32_t)made;
		tree->nodes[node].amount += row->cycles;
	}
	tree->n_paths++;
	tree->nodes[node].hits++;
	tree->nodes[node].folded += goes_on(rows, n, i);
	return 0;
}

int stream_fold(struct path_tree *tree, uint32_t light)
{
	return path_fold(tree, MAX((uint32_t)(tree->n_paths / SHARE), light));
}
