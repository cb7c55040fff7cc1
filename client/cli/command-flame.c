/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "client/cli/commands.h"
#include "client/export/export.h"
#include "client/export/output-file.h"
#include "client/render/problems.h"
#include "client/render/summary.h"
#include "client/source/profile-source.h"
#include "client/term/desktop.h"
#include "client/term/text.h"

struct sides {
	struct profile_source *older, *shown; /* older: NULL without --diff */
};

static void sides_done(struct sides *sides)
{
	profile_source_free(sides->older);
	profile_source_free(sides->shown);
}

/* Positive: nothing matches the filters, which was said. */
static int open_side(struct profile_source **ret, const char *window, const char *socket,
		     const struct options *options, struct fault *fault)
{
	struct profile_source_settings settings = options->source;
	int r;

	settings.window = window;
	settings.socket = socket;
	settings.tables = export_tables(options->export_format);
	r = profile_source_open(ret, &settings, fault);
	if (r >= 0 && !profile_source_has_match(*ret)) {
		profile_source_say(*ret, stderr);
		return COMMAND_FOUND_NOTHING;
	}
	if (r >= 0)
		r = export_check(options->export_format, *ret, fault);
	return r < 0 ? r : export_check_output(options->output_path, *ret, fault);
}

static int open_sides(struct sides *sides, const struct options *options, struct fault *fault)
{
	const struct profile_source_settings *source = &options->source;
	int r;

	if (!options->new_window)
		return open_side(&sides->shown, source->window, source->socket, options, fault);
	r = open_side(&sides->older, source->window, source->socket, options, fault);
	if (r != 0)
		return r;
	return open_side(&sides->shown, options->new_window, options->new_socket, options, fault);
}

static int write_picture(const struct sides *sides, const struct options *options,
			 struct fault *fault)
{
	_cleanup_(output_file_done) struct output_file file = OUTPUT_FILE_INIT;
	const struct export_settings settings = {
		.format = options->export_format,
		.source = sides->shown,
		.older = sides->older,
		.lines = options->top.inlined,
	};
	bool is_stdout = strcmp(options->output_path, "-") == 0;
	int r;

	r = output_file_open(&file, is_stdout ? NULL : options->output_path, fault);
	if (r >= 0)
		r = export_write(&settings, file.f, fault);
	if (r >= 0)
		r = output_file_finish(&file, fault);
	if (r >= 0 && !is_stdout && !options->open)
		text_say(stderr, "wrote %s", options->output_path);
	return r;
}

int command_flame(const struct options *options, struct fault *fault)
{
	_cleanup_(sides_done) struct sides sides = {};
	int r = open_sides(&sides, options, fault);

	if (r == 0)
		r = write_picture(&sides, options, fault);
	if (r != 0)
		return r;
	if (sides.older)
		profile_source_say(sides.older, stderr);
	profile_source_say(sides.shown, stderr);
	summary_say_missing(sides.shown, stderr);
	problems_say_source(sides.shown, stderr);
	return options->open ? desktop_show(options->output_path, fault) : 0;
}
