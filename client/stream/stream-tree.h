/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams by function and line, of one profile or of two: the paths of view_streams() as a tree of
 * frames, the newest first, and where a stream ends.
 *
 * A frame is the target or the source of a branch; places of one source line are one frame. Equal
 * turns of a loop are one turn with the range of their numbers. By default a stream starts with the
 * newest branch and goes on as long as one continuation has nine of ten of the hits that start like
 * it, on each side. All hits are in exactly one stream, the longest that begins their path.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/stats/side.h"
#include "client/stream/stream-fold.h"

/* The depth of streams: a number of frames, or: */
#define STREAM_DEPTH_FORKS 0          /* where their paths fork */
#define STREAM_DEPTH_FULL  UINT32_MAX /* no tree of frames, but all of view_streams() */
#define STREAM_DEPTH_MAX   (2 * VIEW_STREAM_MAX_ROWS)

/* What makes two places one frame. */
struct stream_frame {
	uint64_t object, function;
	const char *file; /* NULL: @at is an offset, else a line */
	uint64_t at;
};

struct stream_tree_end {
	struct location at;       /* of the frame, in the hottest path */
	uint64_t through, pruned; /* hits of paths through it; those that end at it, pruned */
	uint64_t variance;        /* what estimating adds to that of @through */
	double cycles;            /* of the branch from this frame, summed over @through */
	bool changed;
};

struct stream_tree_node {
	uint32_t parent;       /* the next newer frame; less than its own number, or PROFILE_NONE */
	uint32_t frame, depth; /* its number; the newest has depth 1 */
	uint32_t n_loop;       /* frames up to this one are a turn of a loop; 0: none */
	uint32_t fewest, most; /* turns, where n_loop > 0 */
	bool in_stream;        /* a stream has it */
	struct stream_tree_end ends[N_SIDES];
};

/* A stream: the path to @node, without the hits of longer streams. */
struct stream_tree_row {
	uint32_t node;
	uint64_t hits[N_SIDES], pruned[N_SIDES], variance[N_SIDES];
	double cycles[N_SIDES];            /* the mean of its branches; 0 where unknown */
	uint32_t n_continuations[N_SIDES]; /* different next frames that are not in streams */
};

struct stream_tree;

/* @depth: that of its streams. -ENOMEM. */
int stream_tree_new(struct stream_tree **ret, uint32_t depth);
struct stream_tree *stream_tree_free(struct stream_tree *tree);
DEFINE_CLEANUP(struct stream_tree *, stream_tree_free);

/* The number of the frame, from 0 on; or -ENOMEM. */
int64_t stream_tree_number(struct stream_tree *tree, const struct stream_frame *frame);

/* Adds the paths of @view; @branches are those of its nodes, by number. 0 or -ENOMEM. */
int stream_tree_add(struct stream_tree *tree, enum side side, const struct view_streams *view,
		    const struct stream_branch *branches);

/* Once all paths are added: ends the streams and makes their rows. 0 or -ENOMEM. */
int stream_tree_end(struct stream_tree *tree);

/* The rows: in the order of their nodes, until the caller sorts them. */
struct stream_tree_row *stream_tree_rows(struct stream_tree *tree, size_t *ret_n);
const struct stream_tree_node *stream_tree_node(const struct stream_tree *tree, uint32_t node);

/* The node of the stream that has the path of @view up to @node; PROFILE_NONE where none has it;
 * or -ENOMEM. */
int64_t stream_tree_find(struct stream_tree *tree, const struct view_streams *view,
			 const struct stream_branch *branches, uint32_t node);

/* The nodes of the path to @node, newest frame first: their number, at most STREAM_DEPTH_MAX. */
size_t stream_tree_path(const struct stream_tree *tree, uint32_t node, uint32_t *ret);
