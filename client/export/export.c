/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/export.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "client/stream/line-loader.h"
#include "client/term/text.h"
#include "client/view/view.h"
#include "common/profile/other.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "common/util/percent.h"

const struct export_format export_formats[] = {
	{ "folded", "a line per stack: FlameGraph, speedscope, Pyroscope", false, false,
	  stack_lines_write },
	{ "pprof", "gzipped: pprof, Pyroscope, Parca, Grafana", false, true, pprof_write },
	{ "otlp", "OpenTelemetry profiles: collectors, Pyroscope", false, true, otlp_write },
	{ "speedscope", "JSON: speedscope.app", false, false, speedscope_write },
	{ "firefox", "JSON: profiler.firefox.com", false, false, firefox_write },
	{ "perf-script", "text of perf script, a stack for all of its samples", false, false,
	  perf_script_write },
	{ "callgrind", "KCachegrind, callgrind_annotate", false, false, callgrind_write },
	{ "bolt", "perf2bolt -pa", true, false, bolt_write },
	{ "llvm-profgen", "llvm-profgen --unsymbolized-profile", true, false, llvm_profgen_write },
	{ "autofdo", "create_llvm_prof, create_gcov", true, false, autofdo_write },
	{ "html", "a flame graph for a browser, as branchctl flame", false, false, html_write },
	{ "svg", "a flame graph as an image", false, false, svg_write },
};

const size_t n_export_formats = ARRAY_SIZE(export_formats);

const struct export_format *export_find_format(const char *name)
{
	for (size_t i = 0; i < n_export_formats; i++)
		if (strcmp(export_formats[i].name, name) == 0)
			return &export_formats[i];
	return NULL;
}

unsigned int export_tables(const struct export_format *format)
{
	return format->needs_branches ?
		       PROFILE_TABLE(PROFILE_BRANCHES) | PROFILE_TABLE(PROFILE_BLOCKS) :
		       PROFILE_TABLE(PROFILE_STACKS);
}

int export_check(const struct export_format *format, const struct profile_source *source,
		 struct fault *fault)
{
	const struct profile *shown = source->shown;

	if (format->needs_branches && shown->n_branches == 0 && source->profile->n_branches > 0)
		return fault_set(fault, -ENODATA, "%s: no branch records match all filters",
				 source->name);
	if (format->needs_branches && shown->n_branches == 0)
		return fault_set(
			fault, -ENODATA,
			"%s: no branch records, which %s needs; record with perf record -b, or "
			"see branchctl status",
			source->name, format->name);
	if (!format->needs_branches && shown->counters.samples == 0)
		return fault_set(fault, -ENODATA, "%s: no samples: nothing to export",
				 source->name);
	return 0;
}

void export_say(const struct export_format *format, const struct profile_source *source, FILE *f)
{
	const struct other_sums others = other_sum_up(source->shown);
	const struct profile_counters *counters = &source->shown->counters;

	if (!format->needs_branches || others.taken + others.runs == 0)
		return;
	text_say(f,
		 "%.1f %% of the branches and %.1f %% of the runs are left out: too rare to be "
		 "kept one by one",
		 percent_of(others.taken, counters->rows_counted),
		 percent_of(others.runs, counters->runs_counted));
}

int export_check_output(const char *path, const struct profile_source *source, struct fault *fault)
{
	struct stat output, input;

	if (!path || !source->is_recording || stat(path, &output) < 0 ||
	    stat(source->name, &input) < 0)
		return 0;
	if (output.st_dev != input.st_dev || output.st_ino != input.st_ino)
		return 0;
	return fault_set(fault, -EINVAL, "-o %s is the recording itself: give another file", path);
}

/* Source lines of all frames and functions are read at once. */
static int load_lines(const struct profile_source *source)
{
	_cleanup_(line_loader_done) struct line_loader loader = {};
	const struct profile *shown = source->shown;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < shown->n_stacks; i++) {
		struct location at = profile_place_frame(shown, shown->stacks[i].frame);

		r = line_loader_add(&loader, at);
		if (r >= 0)
			r = line_loader_add(&loader, view_function_start(shown, at));
	}
	return r < 0 ? r : line_loader_run(&loader, shown, source->symbolizer);
}

int export_write(const struct export_settings *settings, FILE *f, struct fault *fault)
{
	const struct profile_source *source = settings->source, *older = settings->older;
	struct export_input input = {
		.source = source,
		.places = { source->shown, source->symbolizer, settings->lines },
		.older = older,
		.object = settings->object,
		.fault = fault,
	};
	int r = 0;

	fault->text[0] = '\0';
	if (older)
		input.older_places = (struct places){ .profile = older->shown,
						      .symbolizer = older->symbolizer,
						      .lines = settings->lines };
	if (settings->lines)
		r = load_lines(source);
	if (r >= 0 && settings->lines && older)
		r = load_lines(older);
	if (r >= 0)
		r = settings->format->write(&input, f);
	if (r < 0 && fault->text[0] == '\0')
		fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	return r;
}
