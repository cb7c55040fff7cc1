/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/complete-values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/profile-source.h"
#include "client/source/time-spec.h"
#include "client/top/function-shares.h"
#include "client/top/top.h"
#include "common/util/clock.h"

static void add_process(struct completion *completion, const struct profile *profile,
			uint32_t process)
{
	char pid[16];

	if (process == PROFILE_NONE || profile->processes[process].pid < 0)
		return;
	snprintf(pid, sizeof(pid), "%" PRId32, profile->processes[process].pid);
	completion_add(completion, pid, profile->processes[process].comm);
}

/* The id of "ENGINE/ID/POD". */
static void add_container(struct completion *completion, const char *name)
{
	const char *id = name ? strchr(name, '/') : NULL;
	char text[128];

	if (!id++)
		return;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(id, "/"), id);
	completion_add(completion, text, name);
}

static void add_object(struct completion *completion, const struct profile *profile,
		       uint32_t object)
{
	if (object != PROFILE_NONE)
		completion_add(completion, profile->objects[object].path, NULL);
}

static void add_row(struct completion *completion, const struct profile *profile, enum view_by by,
		    const struct share_key *key)
{
	switch (by) {
	case VIEW_PROCESS:
		add_process(completion, profile, key->process);
		return;
	case VIEW_OBJECT:
		add_object(completion, profile, key->object);
		return;
	case VIEW_FUNCTION:
		completion_add(completion, key->symbol,
			       key->object == PROFILE_NONE ? NULL :
							     profile->objects[key->object].path);
		return;
	case VIEW_CONTAINER:
		add_container(completion, key->group);
		return;
	default:
		completion_add(completion, key->group, NULL);
	}
}

void complete_values_of(struct completion *completion, enum view_by by, const char *socket)
{
	struct profile_source_settings from = {
		.window = "@-1",
		.now_us = clock_us(CLOCK_REALTIME),
		.filter = PROFILE_FILTER_INIT,
		.socket = socket,
	};
	const struct top_settings settings = { .by = by };
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(top_freep) struct top *top = NULL;
	struct fault fault = {};

	from.counts = function_shares_suffice(by, &from.by);
	if (profile_source_open(&source, &from, &fault) < 0 || top_new(&top, source, &settings) < 0)
		return;
	for (size_t i = 0; i < top->n_rows; i++)
		add_row(completion, source->shown, by, &top->shares->rows[i].key);
}

static void add_marks(struct completion *completion, const struct windows *windows)
{
	for (size_t i = 0; i < windows->n_marks; i++)
		completion_add(completion, windows->marks[i].name, "mark");
}

void complete_windows(struct completion *completion, const char *socket)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	char id[24], start[TIME_SPEC_TEXT_MAX];
	struct fault fault = {};

	if (connection_open(&connection, socket, &fault) < 0 ||
	    daemon_api_list_windows(connection, 0, UINT64_MAX, COMPLETION_MAX, &windows, &fault) <
		    0)
		return;
	add_marks(completion, &windows);
	for (size_t i = windows.n; i-- > 0;) {
		const struct window_info *window = &windows.rows[i];

		snprintf(id, sizeof(id), "%" PRId64, window->id);
		if (!window->open)
			completion_add(completion, id,
				       time_spec_format(start, window->start_us, 0));
	}
}

void complete_marks(struct completion *completion, const char *socket)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	struct fault fault = {};

	if (connection_open(&connection, socket, &fault) >= 0 &&
	    daemon_api_list_marks(connection, &windows, &fault) >= 0)
		add_marks(completion, &windows);
}
