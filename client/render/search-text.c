/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/search-text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "client/render/json.h"
#include "client/render/table.h"
#include "client/source/time-spec.h"
#include "client/term/text.h"

static const struct window_info *window_of(const struct history_search *search,
					   const struct history_moved *row)
{
	return history_window(&search->windows, row->window);
}

static void write_heading(const struct history_search *search, uint64_t now_us, FILE *f)
{
	const struct history_windows *windows = &search->windows;
	const struct window_info *first = history_window(windows, 0);
	const struct window_info *last = history_window(windows, windows->n - 1);
	char start[TIME_SPEC_TEXT_MAX], end[TIME_SPEC_TEXT_MAX];

	fprintf(f, "windows %" PRId64 " to %" PRId64 ", %s to %s: %" PRIu64 " sample%s\n",
		first->id, last->id, time_spec_format(start, first->start_us, now_us),
		time_spec_format(end, windows_end_us(last), now_us), search->samples,
		text_plural(search->samples));
	if (search->within_noise)
		fprintf(f, "no function changed by more than noise%s\n",
			search->n_rows > 0 ?
				"; the largest differences, of all functions and times:" :
				"");
	else
		fprintf(f,
			"the largest change is in window %" PRId64 "; branchctl diff %" PRId64
			"..%" PRId64 " %" PRId64 "..%" PRId64 "%s shows all of it\n",
			window_of(search, search->rows)->id, first->id,
			history_window(windows, MAX(search->rows->window, (size_t)1) - 1)->id,
			window_of(search, search->rows)->id, last->id,
			search->filtered ? ", with the same filters," : "");
}

static int add_columns(struct table *table)
{
	static const struct {
		const char *name;
		unsigned int flags;
	} columns[] = {
		{ "WHEN", 0 },
		{ "OLD", TABLE_RIGHT },
		{ "NEW", TABLE_RIGHT },
		{ "CHANGE", TABLE_RIGHT },
		{ "+/-", TABLE_RIGHT },
		{ "OBJECT", TABLE_ELIDE_PATH | TABLE_SPARE },
		{ "FUNCTION", TABLE_ELIDE_NAME },
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(columns); i++)
		r = table_add_column(table, columns[i].name, columns[i].flags);
	return r;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!path)
		return "-";
	return slash && slash[1] ? slash + 1 : path;
}

static int add_row(struct table *table, const struct history_search *search,
		   const struct history_moved *row, uint64_t now_us)
{
	char when[TIME_SPEC_TEXT_MAX];
	int r = table_add_row(table);

	time_spec_format(when, window_of(search, row)->start_us, now_us);
	if (r >= 0)
		r = table_set(table, 0, when);
	if (r >= 0)
		r = table_printf(table, 1, "%.2f%%", 100 * row->test.shares[SIDE_OLD]);
	if (r >= 0)
		r = table_printf(table, 2, "%.2f%%", 100 * row->test.shares[SIDE_NEW]);
	if (r >= 0)
		r = table_printf(table, 3, "%+.2f", 100 * row->test.difference);
	if (r >= 0 && !search->within_noise)
		r = table_set_color(table, 3, row->test.difference > 0 ? "red" : "green");
	if (r >= 0)
		r = table_printf(table, 4, "%.2f", 100 * significance_margin(&row->test));
	if (r >= 0)
		r = table_set(table, 5, base_name(row->object));
	if (r >= 0)
		r = table_set(table, 6, row->symbol ?: "[unknown]");
	return r < 0 || !search->within_noise ? r : table_dim_row(table);
}

int search_write_table(const struct history_search *search, uint64_t now_us, struct output *output)
{
	_cleanup_(table_freep) struct table *table = NULL;
	int r = table_new(&table, output->f, output->width, output->colors);

	if (r >= 0)
		r = add_columns(table);
	for (size_t i = 0; r >= 0 && i < search->n_rows; i++)
		r = add_row(table, search, &search->rows[i], now_us);
	if (r < 0)
		return r;
	write_heading(search, now_us, output->f);
	if (search->n_rows == 0)
		return 0;
	fputc('\n', output->f);
	r = table_print(table);
	if (search->n_left_out > 0)
		fprintf(output->f, "... %zu more\n", search->n_left_out);
	return r;
}

static json_t *json_moved(const struct history_search *search, const struct history_moved *row)
{
	const struct significance *test = &row->test;
	const struct window_info *window = window_of(search, row);

	return json_pack("{s:s?, s:s?, s:f, s:I, s:f, s:f, s:f, s:[f, f]}", "symbol", row->symbol,
			 "object", row->object, "time", (double)window->start_us / 1e6, "window",
			 (json_int_t)window->id, "old_percent", 100 * test->shares[SIDE_OLD],
			 "new_percent", 100 * test->shares[SIDE_NEW], "delta_percent",
			 100 * test->difference, "interval", 100 * test->interval.low,
			 100 * test->interval.high);
}

int search_write_json(const struct history_search *search, FILE *f)
{
	const struct history_windows *windows = &search->windows;
	json_t *list = json_array(), *changes = json_array(), *within_noise = json_array(), *object;

	for (size_t i = 0; i < windows->n; i++)
		json_array_append_new(list, json_window(history_window(windows, i), true));
	for (size_t i = 0; i < search->n_rows; i++)
		json_array_append_new(search->within_noise ? within_noise : changes,
				      json_moved(search, &search->rows[i]));
	object = json_pack("{s:o, s:I, s:o, s:I, s:o}", "windows", list, "samples",
			   (json_int_t)search->samples, "changes", changes, "changes_omitted",
			   (json_int_t)search->n_left_out, "within_noise", within_noise);
	return json_write(f, object, JSON_TIME_PRECISION);
}
