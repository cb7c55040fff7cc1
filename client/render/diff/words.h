/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A diff in words: the sources, the data of each side, and the largest change.
 */
#pragma once

#include "client/diff/diff.h"

/* Two lines, each ended by a newline. A heap string, or NULL. */
char *diff_format_words(const struct diff *diff);

/* Whether a difference within noise is large enough to be named. */
bool diff_is_worth_saying(const struct significance *noise);

/* The plural of the rows: "functions". */
const char *diff_rows_name(enum view_by by);
