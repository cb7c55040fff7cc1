/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/history/counts.h"

#include <errno.h>

#include "client/rpc/daemon-api.h"
#include "client/source/window-list.h"
#include "common/util/cleanup.h"

void history_default_span(struct profile_source_settings *settings)
{
	if (!settings->window && settings->since_us == 0 && settings->until_us == 0)
		settings->since_us = settings->now_us - HISTORY_DEFAULT_US;
}

int history_windows_find(struct history_windows *ret, struct connection *connection,
			 const struct profile_source_settings *settings, struct fault *fault)
{
	struct window_ref ref;
	int r = profile_source_parse_window(settings, &ref, fault);

	if (r < 0)
		return r;
	r = window_list_find(connection, &ref, &ret->all, &ret->first, &ret->n, fault);
	if (r < 0)
		return r;
	ret->n -= history_window(ret, ret->n - 1)->open ? 1 : 0;
	if (ret->n > 0)
		return 0;
	return fault_set(
		fault, -ENOENT,
		"history takes closed windows, and the only window is open: try again when "
		"it has closed");
}

void history_windows_done(struct history_windows *windows)
{
	windows_done(&windows->all);
}

int history_count(struct functions **ret, struct connection *connection,
		  const struct history_windows *windows, const struct history_part *part,
		  const struct profile_filter *filter, struct fault *fault)
{
	const struct daemon_api_request request = {
		.first = history_window(windows, part->first)->id,
		.last = history_window(windows, part->end - 1)->id,
		.filter = filter,
		.n_parts = part->n_parts,
		.since_us = part->times ? part->times->start_us : 0,
		.until_us = part->times ? part->times->end_us : 0,
		.by = part->by,
		.symbol = part->symbol,
	};
	_cleanup_(windows_done) struct windows counted = {};
	int r = daemon_api_get_functions(connection, &request, ret, &counted, fault);

	if (r == -EOPNOTSUPP)
		return fault_set(fault, r, "this branchd is too old for history: restart it");
	return r;
}
