/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows to be read at once, as one profile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/window/window.h"

struct store_batch {
	struct window *windows; /* their ids are read, the rest of those found is filled in */
	bool *found;            /* whether there is windows[i]; filled in */
	size_t n;
	/* No more windows are read after this number of rows of counts, but at least one is. */
	size_t max_rows;
};
