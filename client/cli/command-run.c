/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/commands.h"
#include "client/cli/run-reports.h"
#include "client/export/output-file.h"
#include "client/launch/launch.h"
#include "client/launch/service.h"
#include "client/render/problems.h"
#include "client/render/summary.h"
#include "client/render/top-table.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/term/text.h"
#include "client/top/top.h"

#define DEFAULT_ROWS  10
#define DEFAULT_LINES 30 /* of the tree, which begins with what all have */
#define FEW_SAMPLES   200

/* As shells, env(1) and timeout(1) have them. */
#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND      127

static int write_view(const struct profile_source *source, const struct options *options,
		      enum view_by by, const char *title, struct output *output)
{
	_cleanup_(top_freep) struct top *top = NULL;
	const struct top_settings settings = {
		.by = by,
		.tree = by == VIEW_STACK ? VIEW_TREE_CALLER : VIEW_TREE_NONE,
		.n_rows = options->rows_given ? options->top.n_rows :
			  by == VIEW_STACK    ? DEFAULT_LINES :
						DEFAULT_ROWS,
	};
	int r = top_new(&top, source, &settings);

	if (r < 0)
		return r;
	fprintf(output->f, "\n%s%s%s\n", COLOR_BOLD(output->colors), title,
		COLOR_RESET(output->colors));
	r = top_write_rows(top, output);
	if (r >= 0 && top_n_omitted(top) > 0)
		fprintf(output->f, "... %zu more%s, -n 0 shows all\n", top_n_omitted(top),
			top->tree ? " lines" : "");
	return r;
}

/* Who sampled, and how often. */
static void write_origin(FILE *f, const struct service *service)
{
	if (!service)
		fprintf(f, "sampled by branchctl at %d Hz, user code alone\n", RECORDER_FREQUENCY);
	else if (service->frequency > 0)
		fprintf(f, "sampled by branchd at %" PRIu64 " Hz\n", service->frequency);
	else
		fprintf(f, "sampled by branchd, one in %" PRIu64 "\n", service->period);
}

/* What there is too little of, and how to get more. */
static void write_few(FILE *f, const struct service *service, const struct launch *launch,
		      uint64_t n)
{
	bool more = service && service->frequency < RECORDER_FREQUENCY;

	if (n == 0)
		fprintf(f, "no samples: it used %.3f s of CPU time%s\n",
			(double)(service ? launch->cpu_us : launch->user_us) / 1e6,
			service ? "" : " in user code");
	if (n < FEW_SAMPLES && more)
		fprintf(f,
			"few samples; branchctl run --self takes %d per second of CPU time, of "
			"user "
			"code\n",
			RECORDER_FREQUENCY);
}

static int write_report(const struct profile_source *source, const struct options *options,
			const struct service *service, const struct launch *launch,
			struct output *output)
{
	uint64_t n = source->all->counters.samples;
	int r = 0;

	write_origin(output->f, service);
	if (n > 0)
		r = summary_write_own(output, source, VIEW_FUNCTION);
	write_few(output->f, service, launch, n);
	if (n == 0 || r < 0)
		return r;
	r = write_view(source, options, VIEW_FUNCTION, "Functions", output);
	if (r >= 0)
		r = write_view(source, options, VIEW_STACK, "Stacks", output);
	if (r >= 0 && source->all->counters.rows_counted > 0)
		r = write_view(source, options, VIEW_BRANCH, "Branches", output);
	return r;
}

static int open_recording(struct profile_source **ret, const struct options *options,
			  struct launch *launch, struct fault *fault)
{
	struct profile_source_settings settings = options->source;
	int r = recorder_finish(launch->recorder, &settings.window, fault);

	if (r < 0)
		return r;
	if (launch->limited)
		text_say(stderr, "the recording has reached its limit of 1 GiB; %s goes on without",
			 options->argv[0]);
	return profile_source_open(ret, &settings, fault);
}

/* Of a recording that has far fewer samples than the CPU time of the command makes. */
static void say_missing(const struct profile_source *source, const struct launch *launch)
{
	uint64_t n = source->all->counters.samples;
	uint64_t n_missing = service_n_missing(RECORDER_FREQUENCY, launch->user_us, n);

	if (n_missing > 0 && !launch->limited)
		text_say(stderr,
			 "%" PRIu64 " samples are expected of %.1f s in user code, the recording "
			 "has %" PRIu64 ": perf events end where a program changes its user",
			 n + n_missing, (double)launch->user_us / 1e6, n);
}

/* @service: NULL: it was recorded. */
static int report(const struct options *options, struct service *service, struct launch *launch,
		  struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	struct output output;
	int r;

	r = service ? service_fetch(&source, service, &options->source, launch, fault) :
		      open_recording(&source, options, launch, fault);
	if (r < 0)
		return r;
	free(source->name);
	source->name = strdup(options->argv[0]);
	if (!source->name)
		return fault_set(fault, -ENOMEM, "out of memory");
	if (!service) {
		profile_source_say(source, stderr);
		say_missing(source, launch);
	}
	problems_say_source(source, stderr);
	output_open(&output, &options->output);
	r = write_report(source, options, service, launch, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s: %s", source->name, strerror(-r)) : 0;
}

/* Whether the daemon is to sample. */
static bool ask(struct service *ret, const struct options *options)
{
	struct fault why;

	if (options->self)
		return false;
	if (service_ask(ret, options->source.socket, &why))
		return true;
	if (*why.text)
		text_say(stderr, "%s; branchctl samples by itself", why.text);
	return false;
}

/* The result of reporting, @r, or -EIO. Without the last of several reports the earlier ones stay.
 */
static int complete(struct output_file *file, const struct options *options, int r,
		    struct fault *fault)
{
	struct fault ignored;

	if (r >= 0 || file->r < 0)
		return output_file_finish(file, fault) < 0 ? -EIO : r;
	if (options->every_us > 0 && file->n_written > 0)
		output_file_finish(file, &ignored);
	return r;
}

/* @file: where @options lead, NULL: to a stream. A command that goes on is waited for after that.
 */
static int run_reported(const struct options *options, struct output_file *file,
			struct fault *fault)
{
	_cleanup_(run_reports_freep) struct run_reports *reports = NULL;
	struct launch launch = { .pid = -1 };
	_cleanup_(service_done) struct service service = {};
	bool by_daemon = ask(&service, options);
	int r;

	r = run_reports_new(&reports, options, by_daemon, fault);
	if (r < 0)
		return r;
	launch.reports = run_reports_launch(reports);
	r = launch_run(&launch, options->argv, by_daemon, fault);
	if (r >= 0)
		r = report(options, by_daemon ? &service : NULL, &launch, fault);
	if (file && launch.refused == 0)
		r = complete(file, options, r, fault);
	if (r >= 0)
		r = launch_wait(&launch);
	if (launch.refused < 0) {
		text_say(stderr, "%s", fault->text);
		r = launch.refused == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	}
	launch_done(&launch);
	return r;
}

/* Into the file of -o; else where the command does not write its output, unless that is a terminal.
 */
int command_run(const struct options *options, struct fault *fault)
{
	_cleanup_(output_file_done) struct output_file file = OUTPUT_FILE_INIT;
	struct options own = *options;
	int r;

	if (!own.output_path) {
		own.output.to = isatty(STDOUT_FILENO) ? NULL : stderr;
		return run_reported(&own, NULL, fault);
	}
	if (strcmp(own.output_path, "-") == 0)
		return run_reported(&own, NULL, fault);
	r = output_file_open(&file, own.output_path, fault);
	if (r < 0)
		return r;
	own.output.to = file.f;
	return run_reported(&own, &file, fault);
}
