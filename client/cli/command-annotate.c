/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/commands.h"
#include "client/render/annotation/json.h"
#include "client/render/annotation/table.h"
#include "client/render/problems.h"
#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/mark-ref.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/top/annotation.h"
#include "client/top/share.h"
#include "client/view/code-span.h"

#define DEFAULT_FUNCTIONS 5

/* --object chooses the function; its samples are not filtered by it. */
static int open_source(struct profile_source **ret, const struct options *options,
		       struct fault *fault)
{
	struct profile_source_settings settings = options->source;

	if (options->symbol)
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

/* What to write, and where. */
struct job {
	const struct options *options;
	const struct profile_source *source;
	struct output *output;
};

/* Function number @i of several; or the only one, if that is negative. */
static int write_function(const struct job *job, const struct code_span *span, ssize_t i)
{
	_cleanup_(annotation_freep) struct annotation *annotation = NULL;
	const char *socket = job->options->source.socket;
	bool with_source = job->options->with_source;
	int r = annotation_new(&annotation, job->source, span,
			       job->source->is_recording ? NULL : get_stored_code, &socket);

	if (r < 0)
		return r;
	if (!job->options->json) {
		if (i > 0)
			fputc('\n', job->output->f);
		return annotation_write_table(annotation, job->output, with_source);
	}
	return i < 0 ? annotation_write_json(annotation, job->output->f, with_source) :
		       annotation_add_json(annotation, (size_t)i, job->output->f, with_source);
}

/* The hottest functions. Returns their number, or -errno. */
static ssize_t write_rows(const struct job *job, const struct shares *functions, size_t n)
{
	ssize_t n_written = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < functions->n_rows && (size_t)n_written < n; i++) {
		_cleanup_(code_span_done) struct code_span span = {};
		const struct share *row = &functions->rows[i];
		struct location at = { row->key.object, row->key.start };

		if (!row->key.symbol || row->self == 0)
			continue;
		r = code_span_of_function(&span, job->source, at);
		if (r >= 0)
			r = write_function(job, &span, n_written++);
	}
	return r < 0 ? r : n_written;
}

static int write_hottest(const struct job *job, struct fault *fault)
{
	_cleanup_(shares_freep) struct shares *functions = NULL;
	const struct options *options = job->options;
	size_t n = options->rows_given ? options->top.n_rows ?: SIZE_MAX : DEFAULT_FUNCTIONS;
	ssize_t n_written;
	int r = view_functions(&functions, job->source->shown);

	if (r >= 0 && options->json)
		r = annotation_begin_json(job->source, job->output->f);
	if (r < 0)
		return r;
	n_written = write_rows(job, functions, n);
	if (options->json)
		annotation_end_json(job->output->f);
	if (n_written == 0)
		return fault_set(fault, -ENOENT, "%s: no samples in functions with a name",
				 job->source->name);
	return (int)MIN(n_written, 0);
}

/* A file whose name was taken for that of a function. */
static int explain_symbol(const struct options *options, int error, struct fault *fault)
{
	const char *symbol = options->symbol;

	if (error >= 0 || error == -ENOMEM || !symbol || options->source.window)
		return error;
	if (access(symbol, F_OK) < 0)
		return mark_ref_explain(options->source.socket, "annotate", symbol, error, fault);
	return fault_set(fault, error, "no function '%s' was found; for the file write ./%s",
			 symbol, symbol);
}

int command_annotate(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(code_span_done) struct code_span span = {};
	struct output output;
	struct job job = { .options = options, .output = &output };
	int r;

	r = open_source(&source, options, fault);
	if (r < 0)
		return explain_symbol(options, r, fault);
	profile_source_say(source, stderr); /* it may be why nothing is found */
	problems_say_source(source, stderr);
	if (options->symbol)
		r = code_span_find(&span, source, &options->source, options->symbol,
				   options->source.filter.object, fault);
	if (r < 0)
		return explain_symbol(options, r, fault);
	if (options->symbol) {
		code_span_say_builds(&span, stderr);
		code_span_say_clones(&span, source, stderr);
	}
	fault->text[0] = '\0';
	output_open(&output, &options->output);
	job.source = source;
	r = options->symbol ? write_function(&job, &span, -1) : write_hottest(&job, fault);
	if (output_close(&output, fault) < 0)
		return -EIO;
	if (r < 0 && !fault->text[0])
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	return r;
}
