/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The closed windows of a span of time, and what the daemon counted in some of them. */
#pragma once

#include <stddef.h>

#include "client/rpc/connection.h"
#include "client/rpc/functions.h"
#include "client/rpc/windows.h"
#include "client/source/profile-source.h"
#include "common/util/fault.h"
#include "common/util/time-part.h"

/* @n windows, at least 1, from @all.rows[@first] on. */
struct history_windows {
	struct windows all;
	size_t first, n;
};

#define HISTORY_DEFAULT_US (86400 * 1000000ull)

/* Without a window or times: the last day. */
void history_default_span(struct profile_source_settings *settings);

/* The open window is left out: it would be a point of a few seconds. -errno and @fault. */
int history_windows_find(struct history_windows *ret, struct connection *connection,
			 const struct profile_source_settings *settings, struct fault *fault);
void history_windows_done(struct history_windows *windows);

static inline const struct window_info *history_window(const struct history_windows *windows,
						       size_t i)
{
	return &windows->all.rows[windows->first + i];
}

/* The windows from number @first on, before @end, in @n_parts parts: of about as many windows each,
 * or of @times as GetFunctions has them. */
struct history_part {
	size_t first, end, n_parts;
	const struct time_parts *times; /* NULL: of windows */
	enum functions_by by;
	const char *symbol; /* as in struct daemon_api_request */
};

/* @filter: of processes; NULL: all. -errno and @fault. */
int history_count(struct functions **ret, struct connection *connection,
		  const struct history_windows *windows, const struct history_part *part,
		  const struct profile_filter *filter, struct fault *fault);
