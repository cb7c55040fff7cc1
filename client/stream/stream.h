/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The view by stream: the hottest branch paths that led to samples, summed over all processes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/profile/profile.h"

/* A branch of a path; the newest one has no parent. */
struct view_stream_node {
	uint32_t parent; /* the next newer branch; less than its own number, or PROFILE_NONE */
	struct location from, to;
	uint64_t hits, pruned, variance; /* see profile_stream */
	uint64_t through; /* hits of this node and of all below, the older branches */
	uint64_t cycles;  /* of this branch, in all these hits */
};

struct view_stream {
	uint32_t node; /* the oldest branch of its path */
	uint64_t hits, variance;
	uint64_t pruned;          /* hits by longer paths that were pruned */
	double cycles;            /* the mean of the whole path; 0 where unknown */
	uint32_t n_continuations; /* of a stream by line: the different next frames */
};

struct view_streams {
	struct view_stream *rows;
	struct view_stream_node *nodes;
	size_t n_rows, n_nodes, cap_nodes;
};

/* The rows of the finalized @profile, hottest first. 0 or -ENOMEM. */
int view_streams(struct view_streams **ret, const struct profile *profile);
struct view_streams *view_streams_free(struct view_streams *streams);
DEFINE_CLEANUP(struct view_streams *, view_streams_free);

/* No hardware has more branch records. */
#define VIEW_STREAM_MAX_ROWS 64

/* The nodes of the path that ends in @node, newest branch first. Returns their number; at most
 * VIEW_STREAM_MAX_ROWS. */
size_t view_stream_nodes(const struct view_streams *streams, uint32_t node, uint32_t *ret);

/* A branch of a path. The first of @n_loop branches that were repeated has n_turns > 0. */
struct view_stream_step {
	struct location from, to;
	uint32_t n_loop, n_turns;
	uint32_t row; /* its number in view_stream_rows() */
};

/*
 * The path that ends in @node, newest branch first, with equal turns of a loop once. Returns the
 * number of steps; at most VIEW_STREAM_MAX_ROWS.
 */
size_t view_stream_path(const struct view_streams *streams, uint32_t node,
			struct view_stream_step *ret);

/* The same with every turn. */
size_t view_stream_rows(const struct view_streams *streams, uint32_t node,
			struct view_stream_step *ret);
