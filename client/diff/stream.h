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

#include "client/diff/comparison.h"
#include "client/diff/stream-rows.h"

/* @percent_limit: see diff_shares_new(). 0, or -errno and @fault. */
int diff_streams_new(struct diff_streams **ret, const struct comparison *with, double percent_limit,
		     struct fault *fault);
struct diff_streams *diff_streams_free(struct diff_streams *streams);
DEFINE_CLEANUP(struct diff_streams *, diff_streams_free);

/* The row with the largest significant difference, or NULL. */
const struct diff_stream *diff_streams_most(const struct diff_streams *streams);
