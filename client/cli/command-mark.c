/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of windows: they are made, removed and listed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/render/json.h"
#include "client/render/table.h"
#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/mark-ref.h"
#include "client/source/profile-source.h"
#include "client/source/time-spec.h"
#include "client/source/window-list.h"
#include "client/term/output.h"
#include "client/term/text.h"
#include "common/json/json-text.h"

static json_t *json_mark(const struct window_mark *mark)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:f, s:I}", "name",
			 json_text(mark->name), "first", (json_int_t)mark->first, "last",
			 (json_int_t)mark->last, "windows", (json_int_t)mark->n_windows, "since",
			 (double)mark->since_us / 1e6, "until", (double)mark->until_us / 1e6,
			 "samples", (json_int_t)mark->samples, "lost", (json_int_t)mark->lost,
			 "made", (double)mark->made_us / 1e6, "uid", (json_int_t)mark->uid);
}

static int write_json(json_t *object, FILE *f)
{
	if (object)
		json_dumpf(object, f, JSON_TIME_PRECISION);
	fputc('\n', f);
	json_decref(object);
	return object ? 0 : -ENOMEM;
}

static int add_row(struct table *table, const struct window_mark *mark)
{
	char since[TIME_SPEC_TEXT_MAX], until[TIME_SPEC_TEXT_MAX], made[TIME_SPEC_TEXT_MAX];
	int r = table_add_row(table);

	if (r >= 0)
		r = table_set(table, 0, mark->name);
	if (r >= 0)
		r = table_set(table, 1, time_spec_format(since, mark->since_us, 0));
	if (r >= 0)
		r = table_set(table, 2, time_spec_format(until, mark->until_us, 0));
	if (r >= 0)
		r = table_printf(table, 3, "%" PRIu64, mark->n_windows);
	if (r >= 0)
		r = table_printf(table, 4, "%" PRIu64, mark->samples);
	if (r >= 0)
		r = table_set(table, 5, time_spec_format(made, mark->made_us, 0));
	return r < 0 ? r : table_printf(table, 6, "%" PRIu32, mark->uid);
}

static int write_table(const struct windows *windows, struct output *output)
{
	static const struct {
		const char *name;
		unsigned int flags;
	} columns[] = {
		{ "NAME", 0 },
		{ "SINCE", 0 },
		{ "UNTIL", 0 },
		{ "WINDOWS", TABLE_RIGHT },
		{ "SAMPLES", TABLE_RIGHT },
		{ "MADE", 0 },
		{ "UID", TABLE_RIGHT },
	};
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	if (windows->n_marks == 0) {
		fputs("no marks\n", output->f);
		return 0;
	}
	r = table_new(&table, output->f, output->width, output->colors);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(columns); i++)
		r = table_add_column(table, columns[i].name, columns[i].flags);
	for (size_t i = 0; r >= 0 && i < windows->n_marks; i++)
		r = add_row(table, &windows->marks[i]);
	return r < 0 ? r : table_print(table);
}

static int write_marks(const struct windows *windows, struct output *output, bool json)
{
	json_t *list;

	if (!json)
		return write_table(windows, output);
	list = json_array();
	for (size_t i = 0; i < windows->n_marks; i++)
		json_array_append_new(list, json_mark(&windows->marks[i]));
	return write_json(json_pack("{s:o}", "marks", list), output->f);
}

static int list(struct connection *connection, const struct options *options, struct fault *fault)
{
	_cleanup_(windows_done) struct windows windows = {};
	struct output output;
	int r = daemon_api_list_marks(connection, &windows, fault);

	if (r < 0)
		return r;
	output_open(&output, &options->output);
	r = write_marks(&windows, &output, options->json);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}

static int delete (struct connection *connection, const struct options *options,
		   struct fault *fault)
{
	_cleanup_(windows_done) struct windows windows = {};
	struct fault why;
	int r = daemon_api_delete_mark(connection, options->mark, fault);

	if (r != -ENOENT || daemon_api_list_marks(connection, &windows, &why) < 0)
		return r;
	return mark_ref_not_found(&windows, options->mark, fault);
}

/* The closed windows of the reference: 0 and *@ret; or -errno and @fault. */
static int choose(struct connection *connection, const struct options *options,
		  struct window_mark *ret, struct fault *fault)
{
	_cleanup_(windows_done) struct windows windows = {};
	struct window_ref ref;
	size_t first, n;
	int r;

	r = profile_source_parse_window(&options->source, &ref, fault);
	if (r >= 0)
		r = window_list_find(connection, &ref, &windows, &first, &n, fault);
	if (r < 0)
		return r;
	n -= windows.rows[first + n - 1].open;
	if (n == 0)
		return fault_set(fault, -EAGAIN,
				 "the open window cannot be named before it ends, WindowSec= of "
				 "branchd.conf after it began; @-1 is the last that has ended");
	*ret = (struct window_mark){ .first = windows.rows[first].id };
	/* ids differ from time after a clock was set */
	for (size_t i = first; i < first + n; i++) {
		ret->first = MIN(ret->first, windows.rows[i].id);
		ret->last = MAX(ret->last, windows.rows[i].id);
	}
	return 0;
}

static int write_mark(const struct window_mark *mark, bool json)
{
	char since[TIME_SPEC_TEXT_MAX], until[TIME_SPEC_TEXT_MAX];

	if (json)
		return write_json(json_mark(mark), stdout);
	printf("%s: %" PRIu64 " window%s from %s to %s, %" PRIu64 " sample%s\n", mark->name,
	       mark->n_windows, text_plural(mark->n_windows),
	       time_spec_format(since, mark->since_us, 0),
	       time_spec_format(until, mark->until_us, 0), mark->samples,
	       text_plural(mark->samples));
	return 0;
}

static int add(struct connection *connection, const struct options *options, struct fault *fault)
{
	_cleanup_(windows_done) struct windows windows = {};
	struct window_mark mark;
	int r;

	r = choose(connection, options, &mark, fault);
	if (r < 0)
		return r;
	snprintf(mark.name, sizeof(mark.name), "%s", options->mark);
	r = daemon_api_add_mark(connection, &mark, &windows, fault);
	if (r < 0)
		return r;
	r = write_mark(&windows.marks[0], options->json);
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}

int command_mark(const struct options *options, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	int r = connection_open(&connection, options->source.socket, fault);

	if (r < 0)
		return r;
	if (options->list_marks)
		return list(connection, options, fault);
	return options->delete_mark ? delete (connection, options, fault) :
				      add(connection, options, fault);
}
