/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The view by stream: the hottest branch paths that led to samples, all processes added up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/profile/profile.h"

/* A row of a path; the newest one has no parent. */
struct view_stream_node {
	uint32_t parent; /* the row after it; less than its own number, or PROFILE_NONE */
	struct location from, to;
	uint64_t hits, pruned; /* as of profile_stream */
	uint64_t through;      /* hits here and in all nodes below, older rows */
	uint64_t cycles;       /* of all these, of this row */
};

struct view_stream {
	uint32_t node; /* the oldest row of its path */
	uint64_t hits;
	uint64_t pruned; /* of these, those that came by longer paths, each too light to be known */
	double cycles;   /* of the whole path, in the mean; 0 where they are not known */
};

struct view_streams {
	struct view_stream *rows;
	struct view_stream_node *nodes;
	size_t n_rows, n_nodes, cap_nodes;
};

/* The rows of the sealed @profile, hottest first. 0 or -ENOMEM. */
int view_streams(struct view_streams **ret, const struct profile *profile);
struct view_streams *view_streams_free(struct view_streams *streams);
DEFINE_CLEANUP(struct view_streams *, view_streams_free);

/* No hardware has more rows than that. */
#define VIEW_STREAM_MAX_ROWS 64

/* A branch of a path; @n_turns is not 0 at the first of @n_loop ones that came so many times in a
 * row. */
struct view_stream_step {
	struct location from, to;
	uint32_t n_loop, n_turns;
	uint32_t row; /* its number with every turn told */
};

/*
 * The path that ends in @node, newest branch first, equal turns of a loop only once. Returns the
 * number of steps; at most VIEW_STREAM_MAX_ROWS.
 */
size_t view_stream_path(const struct view_streams *streams, uint32_t node,
			struct view_stream_step *ret);

/* The same with every turn. */
size_t view_stream_rows(const struct view_streams *streams, uint32_t node,
			struct view_stream_step *ret);
