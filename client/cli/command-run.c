/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/launch/launch.h"
#include "client/render/problems.h"
#include "client/render/summary.h"
#include "client/render/top-table.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/term/text.h"
#include "client/view/top.h"

#define DEFAULT_ROWS 10

static int write_view(const struct profile_source *source, const struct options *options,
		      enum view_by by, const char *title, struct output *output)
{
	_cleanup_(top_freep) struct top *top = NULL;
	const struct top_settings settings = {
		.by = by,
		.tree = by == VIEW_STACK ? VIEW_TREE_CALLER : VIEW_TREE_NONE,
		.n_rows = options->rows_given ? options->top.n_rows : DEFAULT_ROWS,
	};
	int r = top_new(&top, source, &settings);

	if (r < 0)
		return r;
	fprintf(output->f, "\n%s%s%s\n", COLOR_BOLD(output->colors), title,
		COLOR_RESET(output->colors));
	r = top_write_rows(top, output);
	if (r >= 0 && top_n_omitted(top) > 0)
		fprintf(output->f, "... %zu more\n", top_n_omitted(top));
	return r;
}

static int write_report(const struct profile_source *source, const struct options *options,
			struct output *output)
{
	int r;

	summary_write(output->f, source, VIEW_FUNCTION);
	if (source->all->counters.samples == 0) {
		fputs("no samples: it used hardly any CPU time in user code\n", output->f);
		return 0;
	}
	r = write_view(source, options, VIEW_FUNCTION, "Functions", output);
	if (r >= 0)
		r = write_view(source, options, VIEW_STACK, "Stacks", output);
	if (r >= 0 && source->all->counters.rows_counted > 0)
		r = write_view(source, options, VIEW_BRANCH, "Branches", output);
	return r;
}

static int report(const char *path, const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	struct profile_source_settings settings = options->source;
	struct output output;
	int r;

	settings.window = path;
	r = profile_source_open(&source, &settings, fault);
	if (r < 0)
		return r;
	free(source->name);
	source->name = strdup(options->argv[0]);
	if (!source->name)
		return fault_set(fault, -ENOMEM, "out of memory");
	profile_source_say(source, stderr);
	problems_say_source(source, stderr);
	output_open(&output, &options->output);
	r = write_report(source, options, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s: %s", source->name, strerror(-r)) : 0;
}

int command_run(const struct options *options, struct fault *fault)
{
	struct launch launch = { .pid = -1 };
	const char *path;
	int r;

	r = launch_run(&launch, options->argv, &path, fault);
	if (r >= 0 && launch.limited)
		text_say(stderr, "the recording has reached its limit of 1 GiB; %s goes on without",
			 options->argv[0]);
	if (r >= 0)
		r = report(path, options, fault);
	if (r >= 0)
		r = launch_wait(&launch);
	launch_done(&launch);
	return r;
}
