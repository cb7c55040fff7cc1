/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* branchctl: shows and compares the profiles of branchd and of recordings. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/cli/complete.h"
#include "client/cli/options/parse.h"
#include "client/download/downloads.h"
#include "client/rpc/bridge.h"
#include "client/rpc/connection.h"
#include "client/term/output.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"
#include "common/util/standard-streams.h"

enum exit_status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
};

static int (*const commands[N_COMMANDS])(const struct options *, struct fault *) = {
	[COMMAND_STATUS] = command_status,   [COMMAND_WINDOWS] = command_windows,
	[COMMAND_TOP] = command_top,         [COMMAND_DIFF] = command_diff,
	[COMMAND_DUMP] = command_dump,       [COMMAND_ANNOTATE] = command_annotate,
	[COMMAND_RUN] = command_run,         [COMMAND_EXPORT] = command_export,
	[COMMAND_HISTORY] = command_history, [COMMAND_FLAME] = command_flame,
	[COMMAND_MARK] = command_mark,       [COMMAND_VACUUM] = command_vacuum,
	[COMMAND_VERIFY] = command_verify,   [COMMAND_METRICS] = command_metrics,
};

static int complain(const struct fault *fault, enum exit_status status)
{
	text_say(stderr, "%s", fault->text);
	return status;
}

/* A failure if the help, version or candidates could not be written. */
static int finish_help(struct fault *fault)
{
	struct output output = { .f = stdout };

	return output_close(&output, fault) < 0 ? complain(fault, STATUS_FAILED) : STATUS_DONE;
}

static int run_command(struct options *options, struct fault *fault)
{
	_cleanup_(downloads_freep) struct downloads *downloads = NULL;
	int r = downloads_new(&downloads);

	if (r < 0)
		return fault_set(fault, r, "out of memory");
	if (downloads) {
		options->source.symbols.fetch = downloads_fetch;
		options->source.symbols.userdata = downloads;
	}
	return commands[options->command](options, fault);
}

int main(int argc, char **argv)
{
	struct fault fault = {};
	struct options options;
	int r;

	if (standard_streams_fill() < 0)
		return STATUS_FAILED;
	/* For UTF-8 and its widths. The format of numbers stays that of scripts. */
	setlocale(LC_CTYPE, "");

	if (argc > 1 && strcmp(argv[1], COMPLETE_COMMAND) == 0) {
		complete(argc - 2, argv + 2);
		return finish_help(&fault);
	}
	if (argc > 1 && strcmp(argv[1], BRIDGE_COMMAND) == 0) {
		r = bridge_run(argc > 2 ? argv[2] : CONNECTION_DEFAULT_PATH, &fault);
		return r < 0 ? complain(&fault, STATUS_FAILED) : STATUS_DONE;
	}
	r = options_parse(&options, argc, argv, &fault);
	if (r < 0)
		return complain(&fault, STATUS_USAGE);
	if (r == 0)
		return finish_help(&fault);
	r = run_command(&options, &fault);
	options_done(&options);
	if (r < 0)
		return complain(&fault, STATUS_FAILED);
	return r;
}
