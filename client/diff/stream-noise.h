/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which differences of streams are more than noise: their hits in the parts of a side's time, the
 * tests, and the rows that are shown.
 */
#pragma once

#include "client/diff/parts.h"
#include "client/diff/stream-rows.h"

/* The paths of a part, with the objects of that side's whole profile. 0 or -ENOMEM. */
int stream_noise_view_part(struct view_streams **ret, const struct comparison *with, enum side side,
			   size_t part);

/* Tests @row, which has the number @number in @parts. */
void stream_noise_test(struct diff_stream *row, const struct comparison *with,
		       const struct diff_parts *parts, size_t number);

/* Sets which rows are significant. 0 or -ENOMEM. */
int stream_noise_control(struct diff_streams *streams);

/* Drops rows below @percent that are not significant, and sorts the others. */
void stream_noise_choose(struct diff_streams *streams, double percent);
