/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/render/annotation-json.h"
#include "client/render/annotation-table.h"
#include "client/render/problems.h"
#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/view/annotation.h"
#include "client/view/code-span.h"

/* --object chooses the function; its samples are not filtered by it. */
static int open_source(struct profile_source **ret, const struct options *options,
		       struct fault *fault)
{
	struct profile_source_settings settings = options->source;

	settings.filter.object = NULL;
	return profile_source_open(ret, &settings, fault);
}

/* Connects only when code is needed. Missing code is not a failure. */
static int get_stored_code(const struct profile_object *object, uint64_t start, void *ret, size_t n,
			   uint16_t *ret_machine, void *userdata)
{
	const char *const *socket = userdata;
	_cleanup_(connection_freep) struct connection *connection = NULL;
	struct daemon_api_code code = { .bytes = ret, .n = n };
	struct fault ignored;
	int r;

	r = connection_open(&connection, *socket, &ignored);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	r = daemon_api_get_code(connection, object, start, &code, &ignored);
	if (r <= 0)
		return r == -ENOMEM ? r : 0;
	*ret_machine = code.machine;
	return r;
}

int command_annotate(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(code_span_done) struct code_span span = {};
	_cleanup_(annotation_freep) struct annotation *annotation = NULL;
	const char *socket = options->source.socket;
	struct output output;
	int r;

	r = open_source(&source, options, fault);
	if (r < 0)
		return r;
	profile_source_say(source, stderr); /* it may be why nothing is found */
	problems_say_source(source, stderr);
	r = code_span_find(&span, source, options->symbol, options->source.filter.object, fault);
	if (r < 0)
		return r;
	r = annotation_new(&annotation, source, &span,
			   source->is_recording ? NULL : get_stored_code, &socket);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));

	output_open(&output, &options->output);
	if (options->json)
		r = annotation_write_json(annotation, output.f, options->with_source);
	else
		r = annotation_write_table(annotation, &output, options->with_source);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s: %s", source->name, strerror(-r)) : 0;
}
