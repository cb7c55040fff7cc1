/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/commands.h"
#include "client/live/live.h"
#include "client/render/problems.h"
#include "client/render/top-json.h"
#include "client/render/top-table.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/view/top-order.h"
#include "client/view/top.h"

/* Live is on a terminal, without a window. */
static bool is_live(const struct options *options)
{
	const char *term = getenv("TERM");
	const struct profile_source_settings *source = &options->source;
	bool wanted = !options->once && !options->json && !options->top.verbose &&
		      !source->window && !source->since_us && !source->until_us;

	return wanted && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term &&
	       strcmp(term, "dumb") != 0;
}

static int run_live(const struct options *options, struct fault *fault)
{
	const struct live_settings settings = {
		.socket = options->source.socket,
		.symbols = options->source.symbols,
		.filter = options->source.filter,
		.top = options->top,
		.order = options->order,
		.color = options->output.color,
	};

	return live_run(&settings, fault);
}

int command_top(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(top_freep) struct top *top = NULL;
	struct top_settings settings = options->top;
	struct output output;
	int r;

	if (is_live(options))
		return run_live(options, fault);
	r = profile_source_open(&source, &options->source, fault);
	if (r < 0)
		return r;
	settings.every_frame = options->json;
	settings.grouped = !options->json;
	r = top_new(&top, source, &settings);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));

	if (options->order > 0)
		top_sort(top, options->order);

	profile_source_say(source, stderr);
	problems_say_source(source, stderr);
	top_say(top, stderr);
	output_open(&output, &options->output);
	r = options->json ? top_write_json(top, output.f) : top_write_table(top, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s: %s", source->name, strerror(-r)) : 0;
}
