/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams of two profiles by function and line, in one tree: both sides have the same ends, and a
 * stream of both is one row, whether its code was changed or not.
 *
 * An old place is the frame of the new line that has its instruction; an instruction that the new
 * side does not have counts by its distance from the line of the nearest one before it. So pairs do
 * not depend on what says that code was changed.
 */
#pragma once

#include "client/diff/stream.h"
#include "client/view/place.h"

/* As diff_streams_new(); @depth is not STREAM_DEPTH_FULL. */
int diff_line_streams_new(struct diff_streams **ret, const struct comparison *with, uint32_t depth,
			  double percent_limit, struct fault *fault);
