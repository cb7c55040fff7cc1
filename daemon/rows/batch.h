/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows to be read at once, as one profile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/window/window.h"

/* Of a row of the table process: 1, 0 or -errno. */
typedef int (*store_gone_handler)(int64_t process, int32_t pid, void *userdata);

struct store_batch {
	struct window *windows; /* their ids are read, the rest of those found is filled in */
	bool *found;            /* whether there is windows[i]; filled in */
	size_t n;
	/* No more windows are read after this number of rows of counts, but at least one is. */
	size_t max_rows;
	/* Not 0: as where windows up to this one are merged, processes that have gone by then are
	 * one for each name, executable, unit and user. */
	int64_t merged_to;
	/* Which processes are read so; NULL: none. Whoever opens the database sets both by
	 * merged_to. */
	store_gone_handler is_gone;
	void *userdata;
};
