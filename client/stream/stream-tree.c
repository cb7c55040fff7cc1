/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stream/stream-tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/stream/stream-fold.h"
#include "client/view/tree-merge.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/strings.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define N_NEWEST 2  /* frames: the newest branch, with which each stream starts */
#define N_FRAMES 20 /* at most, where paths do not fork before */
#define MIN_HITS 10 /* with fewer, nine of ten cannot be measured */
#define N_OF_TEN 9

struct frame_entry {
	struct stream_frame frame;
	uint32_t number;
	UT_hash_handle hh;
};

struct stream_tree {
	struct frame_entry *frames;
	struct tree_merge merge;
	struct stream_tree_node *nodes;
	struct stream_tree_row *rows;
	size_t n_nodes, cap_nodes, n_rows;
	struct strings *files;
	uint32_t depth;
};

int stream_tree_new(struct stream_tree **ret, uint32_t depth)
{
	_cleanup_(stream_tree_freep) struct stream_tree *tree = calloc(1, sizeof(*tree));
	int r = tree ? strings_new(&tree->files) : -ENOMEM;

	if (r < 0)
		return r;
	tree->depth = depth;
	*ret = TAKE_PTR(tree);
	return 0;
}

struct stream_tree *stream_tree_free(struct stream_tree *tree)
{
	struct frame_entry *entry, *next;

	if (!tree)
		return NULL;
	HASH_ITER(hh, tree->frames, entry, next) {
		HASH_DEL(tree->frames, entry);
		free(entry);
	}
	tree_merge_done(&tree->merge);
	free(tree->nodes);
	free(tree->rows);
	strings_free(tree->files);
	free(tree);
	return NULL;
}

int64_t stream_tree_number(struct stream_tree *tree, const struct stream_frame *frame)
{
	struct stream_frame key = *frame;
	struct frame_entry *entry;

	key.file = frame->file ? strings_intern(tree->files, frame->file) : NULL;
	if (frame->file && !key.file)
		return -ENOMEM;
	HASH_FIND(hh, tree->frames, &key, sizeof(key), entry);
	if (entry)
		return entry->number;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->frame = key;
	entry->number = HASH_COUNT(tree->frames);
	HASH_ADD(hh, tree->frames, frame, sizeof(entry->frame), entry);
	if (!entry->hh.tbl) {
		free(entry);
		return -ENOMEM;
	}
	return entry->number;
}

/* The node of the frame below @parent, which may be new; or -ENOMEM. */
static int64_t find_node(struct stream_tree *tree, uint32_t parent, uint32_t frame)
{
	const struct location key = { 0, frame };
	int64_t number = tree_merge_find(&tree->merge, parent, key, key);

	if (number < 0 || (size_t)number < tree->n_nodes)
		return number;
	if (ARRAY_RESERVE(&tree->nodes, &tree->cap_nodes, tree->n_nodes + 1) < 0)
		return -ENOMEM;
	tree->nodes[tree->n_nodes++] = (struct stream_tree_node){
		.parent = parent,
		.frame = frame,
		.depth = parent == PROFILE_NONE ? 1 : tree->nodes[parent].depth + 1,
	};
	return number;
}

struct visit {
	enum side side;
	struct location at;
	uint64_t hits, variance;
	double cycles;
	bool changed;
};

static void count_visit(struct stream_tree_node *node, const struct visit *visit)
{
	struct stream_tree_end *end = &node->ends[visit->side];

	if (end->through == 0) /* paths come hottest first */
		end->at = visit->at;
	end->through += visit->hits;
	end->variance += visit->variance;
	end->cycles += visit->cycles * (double)visit->hits;
	end->changed |= visit->changed;
}

/* A path that does not turn has one turn. */
static void count_turns(struct stream_tree_node *node, const struct stream_fold_step *step,
			bool is_new)
{
	uint32_t fewest = step->n_loop ? step->fewest : 1, most = step->n_loop ? step->most : 1;

	node->n_loop = node->n_loop ?: 2 * step->n_loop;
	node->fewest = is_new ? fewest : MIN(node->fewest, fewest);
	node->most = MAX(node->most, most);
}

/* Adds the two frames of @step below @parent. The number of the last one, or -ENOMEM. */
static int64_t add_step(struct stream_tree *tree, uint32_t parent,
			const struct stream_fold_step *step, struct visit visit)
{
	struct stream_tree_node *node;
	int64_t number = find_node(tree, parent, step->branch.to);

	if (number < 0)
		return number;
	visit.at = step->to;
	visit.changed = step->branch.to_changed;
	count_visit(&tree->nodes[number], &visit);
	number = find_node(tree, (uint32_t)number, step->branch.from);
	if (number < 0)
		return number;
	node = &tree->nodes[number];
	count_turns(node, step, node->ends[SIDE_OLD].through + node->ends[SIDE_NEW].through == 0);
	visit.at = step->from;
	visit.changed = step->branch.from_changed;
	visit.cycles = step->cycles;
	count_visit(node, &visit);
	return number;
}

static int add_path(struct stream_tree *tree, enum side side, const struct stream_fold *fold,
		    const struct view_stream *stream)
{
	const struct visit visit = { .side = side,
				     .hits = stream->hits,
				     .variance = stream->variance };
	/* streams and their continuations: deeper frames are not needed */
	size_t depth = tree->depth == STREAM_DEPTH_FORKS ? N_FRAMES : tree->depth;
	int64_t node = PROFILE_NONE;

	for (size_t i = 0; i < fold->n && 2 * i <= depth; i++) {
		node = add_step(tree, (uint32_t)node, &fold->steps[i], visit);
		if (node < 0)
			return (int)node;
	}
	tree->nodes[node].ends[side].pruned += stream->pruned;
	return 0;
}

int stream_tree_add(struct stream_tree *tree, enum side side, const struct view_streams *view,
		    const struct stream_branch *branches)
{
	struct stream_fold fold;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < view->n_rows; i++) {
		stream_fold_path(&fold, view, branches, view->rows[i].node);
		r = add_path(tree, side, &fold, &view->rows[i]);
	}
	return r;
}

/* Whether @node has nine of ten of the hits that start with the same branch. */
static bool goes_on(const struct stream_tree_node *node, const struct stream_tree_node *newest)
{
	bool has_enough = false;

	for (int side = 0; side < N_SIDES; side++) {
		uint64_t all = newest->ends[side].through;

		if (all < MIN_HITS)
			continue;
		has_enough = true;
		if (10 * node->ends[side].through < N_OF_TEN * all)
			return false;
	}
	return has_enough && node->depth <= N_FRAMES;
}

static int choose_nodes(struct stream_tree *tree)
{
	_cleanup_free_ uint32_t *newest = calloc(tree->n_nodes + 1, sizeof(*newest));

	if (!newest)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		struct stream_tree_node *node = &tree->nodes[i];

		newest[i] = node->depth <= N_NEWEST ? i : newest[node->parent];
		if (tree->depth != STREAM_DEPTH_FORKS)
			node->in_stream = node->depth <= tree->depth;
		else
			node->in_stream =
				node->depth <= N_NEWEST || (tree->nodes[node->parent].in_stream &&
							    goes_on(node, &tree->nodes[newest[i]]));
	}
	return 0;
}

/* Rows by node: those of the nodes that are in streams, with what their children do not have. */
static void count_rows(const struct stream_tree *tree, struct stream_tree_row *rows)
{
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		const struct stream_tree_node *node = &tree->nodes[i];
		uint32_t at = i;

		while (!tree->nodes[at].in_stream)
			at = tree->nodes[at].parent;
		for (int side = 0; side < N_SIDES; side++) {
			uint64_t through = node->ends[side].through;
			uint64_t variance = node->ends[side].variance;

			rows[at].pruned[side] += node->ends[side].pruned;
			if (node->in_stream) {
				rows[at].hits[side] += through;
				rows[at].variance[side] += variance;
			}
			if (node->in_stream && node->parent != PROFILE_NONE) {
				rows[node->parent].hits[side] -= through;
				rows[node->parent].variance[side] -= variance;
			}
			if (!node->in_stream && node->parent == at && through > 0)
				rows[at].n_continuations[side]++;
		}
	}
}

static double cycles_of(const struct stream_tree *tree, enum side side, uint32_t i)
{
	double cycles = 0;

	for (; i != PROFILE_NONE; i = tree->nodes[i].parent) {
		const struct stream_tree_end *end = &tree->nodes[i].ends[side];

		if (end->through > 0)
			cycles += end->cycles / (double)end->through;
	}
	return cycles;
}

int stream_tree_end(struct stream_tree *tree)
{
	int r = choose_nodes(tree);

	if (r < 0)
		return r;
	tree->rows = calloc(tree->n_nodes + 1, sizeof(*tree->rows));
	if (!tree->rows)
		return -ENOMEM;
	count_rows(tree, tree->rows);
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		struct stream_tree_row *row = &tree->rows[i];

		if (row->hits[SIDE_OLD] + row->hits[SIDE_NEW] == 0)
			continue;
		row->node = i;
		for (int side = 0; side < N_SIDES; side++)
			if (row->hits[side] > 0)
				row->cycles[side] = cycles_of(tree, (enum side)side, i);
		tree->rows[tree->n_rows++] = *row;
	}
	return 0;
}

struct stream_tree_row *stream_tree_rows(struct stream_tree *tree, size_t *ret_n)
{
	*ret_n = tree->n_rows;
	return tree->rows;
}

const struct stream_tree_node *stream_tree_node(const struct stream_tree *tree, uint32_t node)
{
	return &tree->nodes[node];
}

int64_t stream_tree_find(struct stream_tree *tree, const struct view_streams *view,
			 const struct stream_branch *branches, uint32_t node)
{
	struct stream_fold fold;
	int64_t found = PROFILE_NONE;

	stream_fold_path(&fold, view, branches, node);
	for (size_t i = 0; i < 2 * fold.n; i++) {
		const struct stream_branch *branch = &fold.steps[i / 2].branch;
		int64_t next = find_node(tree, (uint32_t)found, i % 2 ? branch->from : branch->to);

		if (next < 0)
			return next;
		if (!tree->nodes[next].in_stream)
			break;
		found = next;
	}
	return found;
}

size_t stream_tree_path(const struct stream_tree *tree, uint32_t node, uint32_t *ret)
{
	size_t n = tree->nodes[node].depth;

	for (size_t i = n; i-- > 0; node = tree->nodes[node].parent)
		ret[i] = node;
	return n;
}
