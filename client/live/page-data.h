/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a page of the live view shows, and how large it is. */
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
	const char *host;  /* where the daemon is; NULL: here */
	struct top *top;   /* of rows; NULL: no data yet; its range of rows changes */
	const char *body;  /* of other screens, the lines; NULL: no data yet */
	const char *error; /* or "" */
	bool waiting;      /* for the daemon */
	uint64_t now_us;
	size_t n_rows, n_columns; /* of the screen */
	bool colors;
};
