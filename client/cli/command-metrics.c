/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* metrics: what it writes says so, too, if the daemon does not answer. */
#include <errno.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/cli/options/counts.h"
#include "client/export/output-file.h"
#include "client/metrics/metrics.h"
#include "client/rpc/daemon-api.h"

#define DEFAULT_FUNCTIONS 10
#define STATUS_TIMEOUT_MS 10000 /* a daemon that hangs is down before the service times out */

struct state {
	json_t *status;
	struct profile_source *source;
	struct top *top;
};

static void state_done(struct state *state)
{
	json_decref(state->status);
	top_free(state->top);
	profile_source_free(state->source);
}

static int ask_status(struct state *state, const char *socket, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	int r = connection_open(&connection, socket, fault);

	if (r >= 0 && !connection_host(connection))
		connection_set_timeout(connection, STATUS_TIMEOUT_MS);
	return r < 0 ? r : daemon_api_get_status(connection, &state->status, fault);
}

/* -ENOENT: there is no window yet. */
static int ask_functions(struct state *state, const struct options *options, struct fault *fault)
{
	struct profile_source_settings from = options->source;
	const struct top_settings settings = { .by = VIEW_FUNCTION };
	int r;

	from.counts = options_counts_suffice(options, &from.by);
	from.tables = options_top_tables(options);
	r = profile_source_open(&state->source, &from, fault);
	if (r < 0)
		return r;
	r = top_new(&state->top, state->source, &settings);
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}

static int ask(struct state *state, const struct options *options, struct fault *fault)
{
	int r = ask_status(state, options->source.socket, fault);

	if (r < 0)
		return r;
	r = ask_functions(state, options, fault);
	return r == -ENOENT ? 0 : r;
}

int command_metrics(const struct options *options, struct fault *fault)
{
	_cleanup_(output_file_done) struct output_file file = OUTPUT_FILE_INIT;
	_cleanup_(state_done) struct state state = {};
	struct metrics_input input = {
		.format = options->metrics_format,
		.n_functions = options->rows_given ? options->top.n_rows : DEFAULT_FUNCTIONS,
	};
	struct fault failure = {};
	int asked, r;

	asked = ask(&state, options, &failure);
	input.status = state.status;
	input.top = state.top;
	r = output_file_open(&file, options->output_path, fault);
	if (r < 0)
		return r;
	r = metrics_write(&input, file.f);
	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	r = output_file_finish(&file, fault);
	if (r >= 0 && asked < 0)
		*fault = failure;
	return r < 0 ? r : asked;
}
