/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "client/cli/commands.h"
#include "client/render/status/text.h"
#include "client/render/unnamed.h"
#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/window-list.h"
#include "client/term/output.h"

/* What the last closed window has without names; an older daemon does not count that. */
static int write_unnamed(struct connection *connection, struct output *output)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	_cleanup_(windows_done) struct windows counted = {};
	struct daemon_api_request request = { .n_parts = 1 };
	struct window_ref ref;
	struct fault ignored;
	size_t first, n;

	if (window_ref_parse(&ref, "@-1", 0, &ignored) < 0 ||
	    window_list_find(connection, &ref, &windows, &first, &n, &ignored) < 0)
		return 0;
	request.first = request.last = windows.rows[first].id;
	if (daemon_api_get_functions(connection, &request, &functions, &counted, &ignored) < 0)
		return 0;
	return unnamed_write_objects(functions, output);
}

int command_status(const struct options *options, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	struct output output;
	json_t *status;
	int r;

	r = connection_open(&connection, options->source.socket, fault);
	if (r < 0)
		return r;
	r = daemon_api_get_status(connection, &status, fault);
	if (r < 0)
		return r;
	output_open(&output, &options->output);
	if (options->json) {
		json_dumpf(status, output.f, 0);
		fputc('\n', output.f);
	} else {
		r = status_write_text(status, &output);
		if (r >= 0 && json_integer_value(json_object_get(status, "unnamed_objects")) > 0)
			r = write_unnamed(connection, &output);
	}
	json_decref(status);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}
