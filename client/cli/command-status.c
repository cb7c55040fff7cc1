/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "client/cli/commands.h"
#include "client/render/status-text.h"
#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/term/output.h"

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
	}
	json_decref(status);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}
