/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "client/branchd.h"
#include "client/commands.h"
#include "client/connection.h"
#include "client/output.h"
#include "client/status-text.h"

int command_status(const struct options *options, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	struct output output;
	json_t *status;
	int r;

	r = connection_open(&connection, options->socket, fault);
	if (r >= 0)
		r = branchd_get_status(connection, &status, fault);
	if (r < 0)
		return r;
	output_open(&output, options);
	if (options->json) {
		json_dumpf(status, output.f, 0);
		fputc('\n', output.f);
	} else {
		status_write_text(status, &output);
	}
	json_decref(status);
	return output_close(&output, fault);
}
