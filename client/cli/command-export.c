/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/commands.h"
#include "client/export/export.h"
#include "client/export/output-file.h"
#include "client/render/problems.h"
#include "client/render/summary.h"
#include "client/source/profile-source.h"
#include "client/term/text.h"

static int check_terminal(const struct options *options, struct fault *fault)
{
	if (options->output_path || !options->export_format->is_binary || !isatty(STDOUT_FILENO))
		return 0;
	return fault_set(fault, -EINVAL, "%s is not for a terminal: give -o FILE",
			 options->export_format->name);
}

/* For who watches: in scripts success is silent. */
static void say_written(const struct options *options, const struct profile_source *source)
{
	uint64_t n = source->shown->counters.samples;
	struct stat st;

	if (!options->output_path || !isatty(STDERR_FILENO) ||
	    stat(options->output_path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	text_say(stderr, "wrote %s: %s of %" PRIu64 " sample%s, %jd bytes", options->output_path,
		 options->export_format->name, n, text_plural(n), (intmax_t)st.st_size);
}

int command_export(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(output_file_done) struct output_file file = OUTPUT_FILE_INIT;
	struct export_settings settings = {
		.format = options->export_format,
		.object = options->source.filter.object,
		.lines = options->top.inlined,
	};
	struct profile_source_settings from = options->source;
	int r;

	from.tables = profile_filter_tables(&from.filter, export_tables(options->export_format));
	r = check_terminal(options, fault);
	if (r >= 0)
		r = profile_source_open(&source, &from, fault);
	if (r < 0)
		return r;
	if (!profile_source_has_match(source)) {
		profile_source_say(source, stderr);
		return COMMAND_FOUND_NOTHING;
	}
	settings.source = source;
	r = export_check(settings.format, source, fault);
	if (r >= 0)
		r = export_check_output(options->output_path, source, fault);
	if (r >= 0)
		r = output_file_open(&file, options->output_path, fault);
	if (r >= 0)
		r = export_write(&settings, file.f, fault);
	if (r >= 0)
		r = output_file_finish(&file, fault);
	if (r < 0)
		return r;
	say_written(options, source);
	profile_source_say(source, stderr);
	summary_say_missing(source, stderr);
	export_say(settings.format, source, stderr);
	problems_say_source(source, stderr);
	return 0;
}
