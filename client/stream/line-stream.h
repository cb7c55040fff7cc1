/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The view by stream, by function and line: the newest parts that the branch paths to the samples
 * share, summed over all processes. See stream-tree.h.
 */
#pragma once

#include "client/stream/stream-tree.h"
#include "client/view/place.h"

struct view_line_streams {
	struct stream_tree *tree;
	struct view_stream *rows; /* their nodes are those of the tree */
	size_t n_rows;
};

/* The rows of the finalized profile of @places, hottest first. @depth is not STREAM_DEPTH_FULL. 0
 * or -ENOMEM. */
int view_line_streams(struct view_line_streams **ret, const struct places *places, uint32_t depth);
struct view_line_streams *view_line_streams_free(struct view_line_streams *streams);
DEFINE_CLEANUP(struct view_line_streams *, view_line_streams_free);
