/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums of what windows counted by function, object and so on, kept for the next query: of ten
 * minutes of short windows, of an hour of windows of a minute, of a day of longer ones, within a
 * part of the query. So a day is some thirty sums instead of thousands of windows. They are exact.
 *
 * Queries of all processes alone: those of some have other counts.
 */
#pragma once

#include "daemon/api/query-state.h"

/* Before the next window is read; @ends_part says whether number @at belongs to a later part. 1: a
 * kept sum stands for some windows; 0: it is to be read; -errno. */
int query_counts_begin(struct query *q, bool (*ends_part)(const struct query *q, size_t at));

/* The window before the next was read, or was not there. 0 or -errno. */
int query_counts_note_read(struct query *q, bool found);
