/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/diff/diff.h"
#include "client/render/diff-json.h"
#include "client/render/diff-table.h"
#include "client/render/problems.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/term/text.h"
#include "common/util/macro.h"

#define N_REPORTED 3

/* True if counts of functions alone suffice. */
static bool is_by_function(const struct options *options)
{
	const struct profile_filter *filter = &options->source.filter;

	return options->top.by == VIEW_FUNCTION && options->n_views <= 1 &&
	       (options->by_given || !options->json) && !options->top.inlined && !options->before &&
	       !filter->object && !filter->symbol;
}

static int open_side(struct profile_source **ret, const struct options *options, const char *window,
		     struct fault *fault)
{
	struct profile_source_settings settings = options->source;

	settings.window = window;
	settings.n_parts = DIFF_PARTS;
	settings.by_function = is_by_function(options);
	return profile_source_open(ret, &settings, fault);
}

/* The views to write: those of --by; without it, for JSON, all views of a report. */
struct views {
	struct diff *diffs[N_VIEWS];
	size_t n;
};

static void views_done(struct views *views)
{
	for (size_t i = 0; i < views->n; i++)
		diff_free(views->diffs[i]);
}

static int make_views(struct views *views, const struct comparison *comparison,
		      const struct options *options, struct fault *fault)
{
	static const enum view_by reported[N_REPORTED] = { VIEW_FUNCTION, VIEW_STREAM, VIEW_BLOCK };
	bool is_report = options->json && !options->by_given;
	const enum view_by *by = is_report ? reported : options->views;
	size_t n = is_report ? N_REPORTED : MAX(options->n_views, (size_t)1);
	struct diff_settings settings = {
		.inlined = options->top.inlined,
		.all = options->all,
		.percent_limit = options->percent_limit,
		.n_rows = options->top.n_rows,
		.depth = options->top.depth,
		.rows_given = options->rows_given,
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		settings.by = n == 1 ? options->top.by : by[i];
		r = diff_new(&views->diffs[i], comparison, &settings, fault);
		views->n += r >= 0;
	}
	return r;
}

static int compare(struct comparison **ret, const struct profile_source *old_source,
		   const struct profile_source *new_source, const struct options *options,
		   struct fault *fault)
{
	const struct profile_source *const sources[N_SIDES] = { old_source, new_source };
	const struct comparison_settings settings = {
		.before = options->before,
		.after = options->after,
		.changed = options->changed,
		.n_changed = options->n_changed,
	};

	return comparison_new(ret, sources, &settings, fault);
}

static void say_unknown_functions(const struct comparison *comparison,
				  const struct options *options, FILE *f)
{
	for (size_t i = 0; i < options->n_changed; i++)
		if (!change_detector_has_function(comparison->detector, options->changed[i]))
			text_say(f, "--changed-func: neither side has counts for a function '%s'",
				 options->changed[i]);
}

int command_diff(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *old_source = NULL;
	_cleanup_(profile_source_freep) struct profile_source *new_source = NULL;
	_cleanup_(comparison_freep) struct comparison *comparison = NULL;
	_cleanup_(views_done) struct views views = {};
	struct output output;
	int r;

	r = open_side(&old_source, options, options->source.window, fault);
	if (r < 0)
		return r;
	r = open_side(&new_source, options, options->new_window, fault);
	if (r < 0)
		return r;
	r = compare(&comparison, old_source, new_source, options, fault);
	if (r < 0)
		return r;
	r = make_views(&views, comparison, options, fault);
	if (r < 0)
		return r;

	profile_source_say(old_source, stderr);
	problems_say_source(old_source, stderr);
	profile_source_say(new_source, stderr);
	problems_say_source(new_source, stderr);
	say_unknown_functions(comparison, options, stderr);
	output_open(&output, &options->output);
	r = options->json ?
		    diff_write_json((const struct diff *const *)views.diffs, views.n, output.f) :
		    diff_write_table((const struct diff *const *)views.diffs, views.n, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}
