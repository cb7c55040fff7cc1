/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/render/dump-text.h"
#include "client/render/problems.h"
#include "client/render/script-dump.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "common/json/profile-json.h"

static int dump_samples(const struct options *options, struct fault *fault)
{
	_cleanup_(script_dump_freep) struct script_dump *samples = NULL;
	const struct script_dump_settings settings = {
		.path = options->source.window,
		.event = options->source.event,
		.filter = options->source.filter,
		.symbols = options->source.symbols,
		.force = options->source.force,
		.no_stitch = options->source.no_stitch,
		.inlined = options->top.inlined,
		.branches = options->branches,
	};
	struct output output;
	int r;

	r = script_dump_open(&samples, &settings, fault);
	if (r < 0)
		return r;
	script_dump_say(samples, stderr);
	output_open(&output, &options->output);
	r = script_dump_write(samples, output.f, fault);
	if (output_close(&output, r < 0 ? NULL : fault) < 0)
		return -EIO;
	if (r < 0)
		return r;
	script_dump_say_problems(samples, stderr);
	return 0;
}

static int dump_profile(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	struct output output;
	int r;

	r = profile_source_open(&source, &options->source, fault);
	if (r < 0)
		return r;
	profile_source_say(source, stderr);
	problems_say_source(source, stderr);
	output_open(&output, &options->output);
	if (options->json) {
		r = profile_json_write(source->shown, output.f);
		fputc('\n', output.f);
	} else {
		r = dump_write_text(source, output.f);
	}
	if (ferror(output.f))
		r = 0; /* not a fault of the recording; output_close() reports it */
	if (output_close(&output, fault) < 0)
		return -EIO;
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	return profile_source_has_match(source) ? 0 : COMMAND_FOUND_NOTHING;
}

int command_dump(const struct options *options, struct fault *fault)
{
	return options->samples ? dump_samples(options, fault) : dump_profile(options, fault);
}
