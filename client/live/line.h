/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of a view that scroll: a row of a table is one line, a stack or a stream has many. What
 * each shows, and where Enter goes from it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/live/filter.h"
#include "client/live/subject.h"
#include "client/top/top.h"

/* True if each row has many lines. */
bool live_line_has_paths(const struct top *top);
/* Of row @i, and of all rows. */
size_t live_line_count_of(const struct top *top, size_t i);
size_t live_line_count(const struct top *top);

/* Stays the same where the rows are made anew; never 0. */
uint64_t live_line_identity(const struct top *top, size_t line);
/* The first line with @identity; SIZE_MAX: none has it. */
size_t live_line_find(const struct top *top, uint64_t identity);

/* Of a row of a tree: of its path. */
uint64_t live_line_identity_of_path(uint64_t hash, const struct view_tree *tree, size_t row,
				    const struct profile *profile);

/*
 * A function, of which the line is; or a filter that leaves what the line counts, such as
 * "pid=4711".
 */
enum live_lead { LIVE_LEAD_NONE, LIVE_LEAD_FUNCTION, LIVE_LEAD_FILTER };
enum live_lead live_line_lead(const struct top *top, size_t line, struct live_subject *ret,
			      char ret_filter[LIVE_FILTER_MAX]);
