/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/commands.h"
#include "client/cli/options/cluster.h"
#include "client/cli/options/counts.h"
#include "client/cli/options/view.h"
#include "client/live/live.h"
#include "client/periodic/periodic.h"
#include "client/render/problems.h"
#include "client/render/top-json.h"
#include "client/render/top-table.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/top/top-order.h"
#include "client/top/top.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

/* Live is on a terminal, without a window. */
static bool is_live(const struct options *options)
{
	const char *term = getenv("TERM");
	const struct profile_source_settings *source = &options->source;
	bool wanted = !options->once && !options->json && !options->host_list &&
		      !options->cluster.url && options->every_us == 0 && !options->top.verbose &&
		      !options->top.owner && !options_are_of_mispredictions(options) &&
		      !source->window && !source->since_us && !source->until_us;

	return wanted && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term &&
	       strcmp(term, "dumb") != 0;
}

static int run_live(const struct options *options, struct fault *fault)
{
	struct live_settings settings = {
		.socket = options->source.socket,
		.host = options->n_hosts > 0 && strcmp(options->hosts[0], ".") != 0 ?
				options->hosts[0] :
				NULL,
		.symbols = options->source.symbols,
		.filter = options->source.filter,
		.top = options->top,
		.order = options->order,
		.color = options->output.color,
	};

	settings.symbols.fetch = NULL; /* keys would wait for it, and it writes to the terminal */
	return live_run(&settings, fault);
}

static int run_periodic(const struct options *options, struct fault *fault)
{
	const struct periodic_settings settings = {
		.socket = options->source.socket,
		.is_local = options->n_hosts == 0,
		.symbols = options->source.symbols,
		.every_us = options->every_us,
		.report = {
			.filter = options->source.filter,
			.top = options->top,
			.order = options->order,
			.percent_limit = options->percent_limit,
			.json = options->json,
			.output = options->output,
		},
	};

	return periodic_run(&settings, fault);
}

/* What is shown of each event. */
struct tops {
	struct profile_source *sources[OPTIONS_MAX_EVENTS];
	struct top *of[OPTIONS_MAX_EVENTS];
	size_t n;
};

static void tops_done(struct tops *tops)
{
	for (size_t i = 0; i < ARRAY_SIZE(tops->of); i++) {
		top_free(tops->of[i]);
		profile_source_free(tops->sources[i]);
	}
}

/* @event: NULL: the first. */
static int add_top(struct tops *tops, const struct options *options, const char *event,
		   struct fault *fault)
{
	struct profile_source_settings from = options->source;
	struct top_settings settings = options->top;
	struct profile_source *source;
	int r;

	from.event = event;
	from.counts = options_counts_suffice(options, &from.by);
	from.tables = options_top_tables(options);
	from.sum_processes = options_top_sums_processes(options);
	if (from.counts && from.by <= FUNCTIONS_BY_PROCESS && options->order == 0)
		from.limit = options->top.n_rows;
	r = options->cluster.url ?
		    cluster_source_open(&tops->sources[tops->n],
					&(struct cluster_source_settings){
						.cluster = options->cluster,
						.source = from,
						.by = options_cluster_by(options->top.by),
					},
					fault) :
		    profile_source_open(&tops->sources[tops->n], &from, fault);
	if (r < 0)
		return r;
	source = tops->sources[tops->n];
	settings.every_frame = options->json;
	settings.grouped = !options->json;
	r = top_new(&tops->of[tops->n], source, &settings);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	if (options->order > 0)
		top_sort(tops->of[tops->n], options->order);
	if (options->percent_limit > 0)
		top_limit(tops->of[tops->n], options->percent_limit,
			  options->order == TOP_ORDER_TOTAL);
	if (options->cluster.url)
		cluster_source_say(source, stderr);
	else
		profile_source_say(source, stderr);
	if (tops->n == 0) /* the objects are the same */
		problems_say_source(source, stderr);
	top_say(tops->of[tops->n], stderr);
	tops->n++;
	return 0;
}

static int write_tops(const struct tops *tops, bool json, struct output *output)
{
	const char *between = json ? ",\n" : "\n";
	int r = 0;

	fputs(json && tops->n > 1 ? "{\"events\": [\n" : "", output->f);
	for (size_t i = 0; r >= 0 && i < tops->n; i++) {
		fputs(i > 0 ? between : "", output->f);
		r = json ? top_write_json(tops->of[i], output->f) :
			   top_write_table(tops->of[i], output);
	}
	fputs(json && tops->n > 1 ? "]}\n" : "", output->f);
	return r;
}

static bool has_match(const struct tops *tops)
{
	for (size_t i = 0; i < tops->n; i++)
		if (profile_source_has_match(tops->sources[i]))
			return true;
	return false;
}

int command_top(const struct options *options, struct fault *fault)
{
	_cleanup_(tops_done) struct tops tops = {};
	struct output output;
	int r = 0;

	if (is_live(options))
		return run_live(options, fault);
	if (options->host_list)
		return command_top_hosts(options, fault);
	if (options->every_us > 0)
		return run_periodic(options, fault);
	for (size_t i = 0; r >= 0 && i < MAX(options->n_events, (size_t)1); i++)
		r = add_top(&tops, options, options->events[i], fault);
	if (r < 0)
		return r;
	if (!options->json && !has_match(&tops))
		return COMMAND_FOUND_NOTHING; /* a line has said so */
	output_open(&output, &options->output);
	r = write_tops(&tops, options->json, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	if (r < 0)
		return fault_set(fault, r, "%s: %s", tops.sources[0]->name, strerror(-r));
	return has_match(&tops) ? 0 : COMMAND_FOUND_NOTHING;
}
