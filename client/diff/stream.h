/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams of two profiles: those that are in both, those of the old through code that was changed,
 * and those that are in one only. After Jin Yao's "perf: Stream comparison" of 2020.
 *
 * A stream is the same if each of its branches and each run between them is (counterpart.h); so it
 * is the same as one at most. Hits that came by longer, rare paths are shown, but that they are
 * more or less shows nothing: which paths are rare is a matter of little. Of a changed function
 * other paths may be the same still, but none through what was changed.
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
	bool passed;   /* also where it is not there: samples came by here, on longer paths */
	uint32_t node; /* of views[side] */
	uint64_t hits, pruned;
	double cycles; /* as of view_stream */
	size_t number; /* what it was counted by in parts of the time */
};

struct diff_stream {
	struct diff_stream_end ends[N_SIDES];
	struct significance share;
	double p_value;       /* of so large a difference, of what is surely of this very path; */
	bool has_enough_data; /* and whether there is enough of that */
	enum diff_stream_section section;
	enum change change; /* why it is another: of the newest changed branch; in any section */
	bool moved;
};

struct diff_streams {
	struct diff_stream *rows; /* section by section, in each the hottest first */
	size_t n_compared;        /* of which these are left: */
	size_t n_rows, cap_rows, n_moved;
	struct view_streams *views[N_SIDES];
	bool *changed[N_SIDES]; /* of each node of these: its branch, or the run after it, is
				   another */
};

/* With @percent_limit as diff_shares_new() has it. 0, or -errno and @fault. */
int diff_streams_new(struct diff_streams **ret, const struct comparison *with, double percent_limit,
		     struct fault *fault);
struct diff_streams *diff_streams_free(struct diff_streams *streams);
DEFINE_CLEANUP(struct diff_streams *, diff_streams_free);

/* The side whose path stands for the row: the new one where it is there. */
enum side diff_stream_side(const struct diff_stream *row);

/* That of the largest difference beyond noise, or NULL. */
const struct diff_stream *diff_streams_most(const struct diff_streams *streams);
