/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams by line of both sides for people: each with its figures, old beside new. */
#pragma once

#include "client/diff/diff.h"
#include "client/term/output.h"

/* 0 or -ENOMEM. The second writes those that differ most, and only the newest lines of each. */
int diff_line_stream_write(const struct diff *diff, struct output *output);
int diff_line_stream_write_brief(const struct diff *diff, struct output *output);

/* The newest branch of the row: a heap string, or NULL. */
char *diff_line_stream_format(const struct diff *diff, const struct diff_stream *row);
