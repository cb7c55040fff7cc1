/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams of two profiles: those that both have, those of the old profile through changed code, and
 * those that one profile has. After Jin Yao's "perf: Stream comparison" of 2020.
 *
 * Two streams match if all their branches and the runs between them do (address-map.h); so a stream
 * matches one stream at most. Hits of pruned, longer paths are shown but not tested: chance decides
 * which rare paths are pruned. In a changed function paths beside the changed code may still match.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/diff/comparison.h"
#include "client/stats/significance.h"
#include "client/view/stream.h"

enum diff_stream_section {
	DIFF_STREAM_MATCHED,
	DIFF_STREAM_CHANGED, /* of the old */
	DIFF_STREAM_OLD,
	DIFF_STREAM_NEW,
	N_DIFF_STREAM_SECTIONS,
};

struct diff_stream_end {
	bool there;
	bool passed;   /* longer paths of this side lead through its node */
	uint32_t node; /* of views[side] */
	uint64_t hits, pruned;
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
	struct view_streams *views[N_SIDES];
	bool *changed[N_SIDES]; /* by node of the view: its branch or the run after it was changed
				 */
};

/* @percent_limit: see diff_shares_new(). 0, or -errno and @fault. */
int diff_streams_new(struct diff_streams **ret, const struct comparison *with, double percent_limit,
		     struct fault *fault);
struct diff_streams *diff_streams_free(struct diff_streams *streams);
DEFINE_CLEANUP(struct diff_streams *, diff_streams_free);

/* The side whose path names the row: the new side where it has the path. */
enum side diff_stream_side(const struct diff_stream *row);

/* The row with the largest significant difference, or NULL. */
const struct diff_stream *diff_streams_most(const struct diff_streams *streams);
