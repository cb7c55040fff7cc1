/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A diff in words: what is compared, how much data each side holds, and what moved most.
 */
#pragma once

#include "client/diff/diff.h"

/* Two lines, each ended by a newline. A heap string, or NULL. */
char *diff_format_words(const struct diff *diff);

/* What the rows are called together: "functions". */
const char *diff_rows_name(enum view_by by);
