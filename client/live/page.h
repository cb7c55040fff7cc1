/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The live view as lines of text: a heading, the rows of a view, a line of keys. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/live/state.h"
#include "client/source/profile-source.h"
#include "client/top/top.h"

struct live_page {
	const struct live_state *state;
	const struct profile_source *source;
	struct top *top;   /* NULL: no data yet; its range of rows changes */
	const char *error; /* or "" */
	uint64_t now_us;
	size_t n_rows, n_columns; /* of the screen */
	bool colors;
};

/* The number of lines to scroll through, and the number that fits on the screen. */
size_t live_page_n_lines(const struct live_page *page);
size_t live_page_room(const struct live_page *page);

/* All lines of the screen. Heap; NULL if out of memory. */
char *live_page_format(const struct live_page *page);
