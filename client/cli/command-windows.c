/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/render/json.h"
#include "client/render/table.h"
#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/source/mark-ref.h"
#include "client/source/time-spec.h"
#include "client/term/output.h"
#include "common/json/json-text.h"

static int add_columns(struct table *table, bool marks)
{
	static const struct {
		const char *name;
		unsigned int flags;
	} columns[] = {
		{ "ID", TABLE_RIGHT },
		{ "START", 0 },
		{ "LENGTH", TABLE_RIGHT | TABLE_SPARE },
		{ "SAMPLES", TABLE_RIGHT },
		{ "MISSING", TABLE_RIGHT | TABLE_SPARE },
		{ "MODE", TABLE_SPARE },
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(columns); i++)
		r = table_add_column(table, columns[i].name, columns[i].flags);
	return r >= 0 && marks ? table_add_column(table, "MARKS", 0) : r;
}

/* The daemon counts the open window only when somebody reads it. */
static int set_count(struct table *table, size_t column, const struct window_info *window,
		     uint64_t n)
{
	return window->open ? table_set(table, column, "-") :
			      table_printf(table, column, "%" PRIu64, n);
}

/* The names of the marks of a window, with commas between them. */
static void format_marks(const struct windows *windows, const struct window_info *window, char *ret,
			 size_t n)
{
	size_t length = 0;

	*ret = '\0';
	for (size_t i = 0; i < windows->n_marks && length < n; i++)
		if (windows_is_marked(&windows->marks[i], window))
			length += (size_t)snprintf(ret + length, n - length, "%s%s",
						   length > 0 ? "," : "", windows->marks[i].name);
}

static int add_marks(struct table *table, const struct windows *windows,
		     const struct window_info *window)
{
	char names[WINDOWS_MAX_MARKS * (WINDOWS_MARK_NAME_MAX + 1)];

	if (windows->n_marks == 0)
		return 0;
	format_marks(windows, window, names, sizeof(names));
	return table_set(table, 6, names);
}

static int add_window(struct table *table, const struct window_info *window)
{
	char start[TIME_SPEC_TEXT_MAX];
	int r = table_add_row(table);

	if (r < 0)
		return r;
	r = window->open ? table_set(table, 0, "@0") :
			   table_printf(table, 0, "%" PRId64, window->id);
	if (r < 0)
		return r;
	r = table_set(table, 1, time_spec_format(start, window->start_us, 0));
	if (r < 0)
		return r;
	r = table_printf(table, 2, "%.1f s", (double)window->length_us / 1e6);
	if (r < 0)
		return r;
	r = set_count(table, 3, window, window->samples);
	if (r < 0)
		return r;
	r = set_count(table, 4, window, window->lost);
	return r < 0 ? r : table_set(table, 5, window->mode);
}

/* Before window @at: in which no daemon ran, or whose windows were removed, all but marked ones. */
static int add_gap(struct table *table, const struct windows *windows, size_t at)
{
	const struct window_info *before = &windows->rows[at - 1];
	uint64_t gap_us = windows_gap_us(before, &windows->rows[at]);
	bool removed = mark_ref_is_before_removed(windows, at - 1);
	const char *const words[] = { "-", "-", removed ? "removed" : "not sampled" };
	char start[TIME_SPEC_TEXT_MAX];
	int r;

	if (gap_us == 0)
		return 0;
	r = table_add_row(table);
	if (r >= 0)
		r = table_set(table, 0, "-");
	if (r >= 0)
		r = table_set(table, 1, time_spec_format(start, windows_end_us(before), 0));
	if (r >= 0)
		r = table_printf(table, 2, "%.1f s", (double)gap_us / 1e6);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(words); i++)
		r = table_set(table, 3 + i, words[i]);
	return r;
}

static int write_table(const struct windows *windows, struct output *output)
{
	_cleanup_(table_freep) struct table *table = NULL;
	int r;

	if (windows->n == 0) {
		fputs("no windows\n", output->f);
		return 0;
	}
	r = table_new(&table, output->f, output->width, output->colors);
	if (r < 0)
		return r;
	r = add_columns(table, windows->n_marks > 0);
	for (size_t i = 0; r >= 0 && i < windows->n; i++) {
		if (i > 0)
			r = add_gap(table, windows, i);
		if (r >= 0)
			r = add_window(table, &windows->rows[i]);
		if (r >= 0)
			r = add_marks(table, windows, &windows->rows[i]);
	}
	return r < 0 ? r : table_print(table);
}

/* A window with the names of its marks. */
static json_t *json_marked(const struct windows *windows, const struct window_info *window)
{
	json_t *object = json_window(window, false), *names = json_array();

	for (size_t i = 0; i < windows->n_marks; i++)
		if (windows_is_marked(&windows->marks[i], window))
			json_array_append_new(names, json_text(windows->marks[i].name));
	json_object_set_new(object, "marks", names);
	return object;
}

static int write_json(const struct windows *windows, FILE *f)
{
	json_t *list = json_array();
	json_t *object = json_pack("{s:O}", "windows", list);

	for (size_t i = 0; i < windows->n; i++)
		json_array_append_new(list, json_marked(windows, &windows->rows[i]));
	if (object)
		json_dumpf(object, f, JSON_TIME_PRECISION);
	fputc('\n', f);
	json_decref(object);
	json_decref(list);
	return object ? 0 : -ENOMEM;
}

static int write_windows(const struct windows *windows, struct output *output, bool json)
{
	return json ? write_json(windows, output->f) : write_table(windows, output);
}

static uint64_t until_us(const struct options *options)
{
	return options->source.until_us ?: UINT64_MAX;
}

static int list(struct connection *connection, const struct options *options, struct fault *fault)
{
	_cleanup_(windows_done) struct windows windows = {};
	struct output output;
	int r;

	r = daemon_api_list_windows(connection, options->source.since_us, until_us(options),
				    options->rows_given ? options->top.n_rows : 0, &windows, fault);
	if (r < 0)
		return r;
	output_open(&output, &options->output);
	r = write_windows(&windows, &output, options->json);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}

/* Writes a line for each, without a pager and with columns of fixed width. */
static int on_windows(const struct windows *windows, void *userdata)
{
	const struct options *options = userdata;
	char start[TIME_SPEC_TEXT_MAX];

	for (size_t i = 0; i < windows->n; i++) {
		const struct window_info *window = &windows->rows[i];

		if (window->open)
			continue;
		if (options->json) {
			json_t *object = json_window(window, false);

			json_dumpf(object, stdout, JSON_TIME_PRECISION);
			json_decref(object);
			fputc('\n', stdout);
			continue;
		}
		printf("%8" PRId64 "  %s %8.1f s %10" PRIu64 " %8" PRIu64 "  %s\n", window->id,
		       time_spec_format(start, window->start_us, 0),
		       (double)window->length_us / 1e6, window->samples, window->lost,
		       window->mode);
	}
	return fflush(stdout) == 0 ? 0 : -errno;
}

static int follow(struct connection *connection, const struct options *options, struct fault *fault)
{
	int r;

	fault->text[0] = '\0';
	if (!options->json)
		printf("%8s  %-19s %10s %10s %8s  %s\n", "ID", "START", "LENGTH", "SAMPLES",
		       "MISSING", "MODE");
	r = daemon_api_follow_windows(connection, options->source.since_us, until_us(options),
				      on_windows, (void *)options, fault);
	if (r < 0 && !fault->text[0])
		fault_set(fault, r, "cannot write the output: %s", strerror(-r));
	return r;
}

int command_windows(const struct options *options, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	int r = connection_open(&connection, options->source.socket, fault);

	if (r < 0)
		return r;
	return options->follow ? follow(connection, options, fault) :
				 list(connection, options, fault);
}
