/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of streams of two profiles, of whole paths or by line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/diff/change-detector.h"
#include "client/stats/significance.h"
#include "client/stream/stream-tree.h"

enum diff_stream_section {
	DIFF_STREAM_MATCHED,
	DIFF_STREAM_CHANGED, /* of the old; by line of both */
	DIFF_STREAM_OLD,
	DIFF_STREAM_NEW,
	N_DIFF_STREAM_SECTIONS,
};

struct diff_stream_end {
	bool there;
	bool passed;              /* longer paths of this side lead through its node */
	uint32_t node;            /* of views[side], or of the tree */
	uint32_t n_continuations; /* see stream_tree_row */
	uint64_t hits, pruned, variance;
	double cycles; /* see view_stream */
	size_t number; /* its row in the counts of parts */
};

struct diff_stream {
	struct diff_stream_end ends[N_SIDES];
	struct significance share;
	double p_value;       /* of the samples that are certainly of this path */
	bool has_enough_data; /* there are enough of them */
	enum diff_stream_section section;
	enum change change; /* of the newest changed branch, in any section */
	bool significant;
};

struct diff_streams {
	struct diff_stream *rows; /* section by section, in each the hottest first */
	size_t n_compared;        /* including rows below the limit */
	size_t n_rows, cap_rows, n_significant;
	struct stream_tree *tree; /* by line: of both sides; else NULL, and: */
	struct view_streams *views[N_SIDES];
	bool *changed[N_SIDES]; /* by node of the view: its branch or the run after it was changed
				 */
};

/* The side whose path names the row: the new side where it has the path. */
static inline enum side diff_stream_side(const struct diff_stream *row)
{
	return row->ends[SIDE_NEW].there ? SIDE_NEW : SIDE_OLD;
}
