/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams of a diff for people, in four sections: matching ones side by side; then the old ones
 * through changed code, the other old ones, and the new ones.
 */
#pragma once

#include "client/diff/diff.h"
#include "client/term/output.h"

/* 0 or -ENOMEM. */
int diff_stream_write(const struct diff *diff, struct output *output);

/* "main demo.c:12 -> demo.c:20": the newest branch of the row. A heap string, or NULL. */
char *diff_stream_format(const struct diff *diff, const struct diff_stream *row);
