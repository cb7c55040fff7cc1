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
	/* Which processes are to be read as ones that have gone; NULL: none. */
	store_gone_handler is_gone;
	void *userdata;
};
