/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/stream.h"

#include <errno.h>

#include "common/builder/branch-table.h"
#include "common/builder/path-prune.h"
#include "common/util/macro.h"

/* A path may lack up to one in this number of samples. */
#define SHARE 1000u

/* Whether the path of the newest @i records, which are valid, goes on: a run must join them to the
 * next older one. */
static bool goes_on(const struct stream *s, size_t i)
{
	const struct branch_record *row = &s->rows[i];

	if (i == 0 || i == s->n)
		return i == 0;
	return !(row[-1].flags & BRANCH_RECORD_AFTER_GAP) && branch_record_is_sound(row) &&
	       row[-1].from - row->to <= RUN_MAX_BYTES;
}

/* The number of nodes that a sample may add. A path of STREAM_MAX_ROWS is complete after
 * STREAM_MAX_ROWS / reach samples, which must be at most half of the share. */
static size_t reach(uint64_t n_paths)
{
	uint64_t n = STREAM_MAX_ROWS * 2 * SHARE / (n_paths + 1);

	n = MIN(n, (uint64_t)STREAM_MAX_ROWS);
	return MAX(n, (uint64_t)1);
}

static int make_room(struct path_tree *tree)
{
	return tree->n_nodes + STREAM_MAX_ROWS > tree->max_nodes ? path_prune_half(tree) : 0;
}

/* Hashes the next steps from @i on, each from the one before, and prefetches their slots. */
static void hash_ahead(struct stream *s, const struct path_tree *tree, size_t i, uint64_t hash)
{
	size_t end = MIN(s->n, i + STREAM_AHEAD);

	for (; i < end; i++) {
		hash = path_hash(hash, s->rows[i].from, s->rows[i].to);
		s->hashes[i % STREAM_AHEAD] = hash;
		path_tree_prefetch(tree, hash);
	}
}

/* Prefetches the nodes of the next steps. */
static void find_ahead(const struct stream *s, const struct path_tree *tree, size_t i)
{
	size_t end = MIN(s->n, i + STREAM_AHEAD);

	for (; i < end; i++)
		path_tree_prefetch_node(tree, s->hashes[i % STREAM_AHEAD]);
}

static void begin(struct stream *s, const struct path_tree *tree,
		  const struct counted_snapshot *snapshot)
{
	s->rows = snapshot->rows;
	s->n = MIN(snapshot->n_rows, snapshot->gaps ? 1 : STREAM_MAX_ROWS);
	s->context = snapshot->context;
	if (s->n > 0 && !branch_record_is_sound(&s->rows[0]))
		s->n = 0;
	hash_ahead(s, tree, 0, path_begin(s->context).hash);
}

/* Follows the path as far as the tree has it: *@ret_path. The number of steps. */
static size_t follow(struct stream *s, struct path_tree *tree, struct path *ret_path)
{
	struct path path = path_begin(s->context);
	size_t i = 0;

	for (; goes_on(s, i); i++) {
		const struct branch_record *row = &s->rows[i];
		uint32_t next;

		if (i > 0 && i % STREAM_AHEAD == 0) {
			hash_ahead(s, tree, i, path.hash);
			find_ahead(s, tree, i);
		}
		next = path_tree_find(tree, s->hashes[i % STREAM_AHEAD], &path, row->from, row->to);
		if (next == 0)
			break;
		path.hash = s->hashes[i % STREAM_AHEAD];
		path.node = next;
		tree->nodes[next].amount += branch_record_cycles(row);
	}
	*ret_path = path;
	return i;
}

static int add(struct stream *s, struct path_tree *tree)
{
	struct path path;
	size_t i, end;

	if (_unlikely_(make_room(tree) < 0))
		return -ENOMEM;
	i = follow(s, tree, &path);
	end = i + reach(tree->n_paths);
	for (; i < end && goes_on(s, i); i++) {
		const struct branch_record *row = &s->rows[i];
		uint32_t missed = path_missed_below(tree, &tree->nodes[path.node]);
		int r = path_tree_add(tree, &path, row->from, row->to, missed);

		if (r < 0)
			return r;
		tree->nodes[path.node].amount += branch_record_cycles(row);
	}
	tree->n_paths++;
	tree->nodes[path.node].hits++;
	tree->nodes[path.node].pruned += goes_on(s, i);
	return 0;
}

/* Moves all streams a stage on: counts the oldest, whose place the newest takes. */
static int advance(struct stream_queue *q, struct path_tree *tree)
{
	struct stream *s;
	int r;

	find_ahead(&q->streams[q->newest], tree, 0);
	q->newest = (q->newest + 1) % STREAMS_WAITING;
	s = &q->streams[q->newest];
	r = s->n > 0 ? add(s, tree) : 0;
	s->n = 0;
	return r;
}

int stream_queue_put(struct stream_queue *queue, struct path_tree *tree,
		     const struct counted_snapshot *snapshot)
{
	int r = advance(queue, tree);

	if (r < 0)
		return r;
	begin(&queue->streams[queue->newest], tree, snapshot);
	return queue->streams[queue->newest].n > 0;
}

int stream_queue_flush(struct stream_queue *queue, struct path_tree *tree)
{
	int r = 0;

	for (unsigned int i = 0; i < STREAMS_WAITING && r >= 0; i++)
		r = advance(queue, tree);
	return r;
}

int stream_prune(struct path_tree *tree, uint32_t rare)
{
	return path_prune(tree, MAX((uint32_t)(tree->n_paths / SHARE), rare));
}
