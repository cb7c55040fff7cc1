/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/history-text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/json.h"
#include "client/render/spark.h"
#include "client/render/table.h"
#include "client/source/mark-ref.h"
#include "client/source/time-spec.h"
#include "client/stats/interval.h"
#include "client/term/text.h"
#include "client/term/wrap.h"
#include "client/view/missing.h"
#include "common/util/cleanup.h"

#define MAX_BAR 30

static double percent(uint64_t n, uint64_t all)
{
	return all > 0 ? 100 * (double)n / (double)all : 0;
}

/* What the bars and the change show: code that is never on top of a stack has a total alone. */
static uint64_t shown(const struct history *history, const struct history_point *point)
{
	return history->sum.self > 0 ? point->self : point->total;
}

static double largest_percent(const struct history *history)
{
	double largest = 0;

	for (size_t i = 0; i < history->n_points; i++) {
		const struct history_point *point = &history->points[i];

		largest = MAX(largest, percent(shown(history, point), point->samples));
	}
	return largest;
}

/* One character a point; a blank where nobody sampled. */
static void write_sparkline(const struct history *history, FILE *f)
{
	double largest = largest_percent(history);

	if (largest <= 0)
		return;
	fputs("  ", f);
	for (size_t i = 0; i < history->n_points; i++) {
		const struct history_point *point = &history->points[i];
		double share = percent(shown(history, point), point->samples);

		spark_write(f, point->samples == 0 ? -1 : share, largest);
	}
	fputc('\n', f);
}

static void write_change(const struct history *history, uint64_t now_us, FILE *f)
{
	const struct significance *test = &history->change.test;
	char when[TIME_SPEC_TEXT_MAX];

	if (history->change.time_us == 0) {
		fputs("  No change that lasts is larger than noise.\n", f);
		return;
	}
	time_spec_format(when, history->change.time_us, now_us);
	fprintf(f,
		"  The clearest change is at %s: from %.2f %% to %.2f %% (%+.2f, between %+.2f and "
		"%+.2f).\n",
		when, 100 * test->shares[SIDE_OLD], 100 * test->shares[SIDE_NEW],
		100 * test->difference, 100 * test->interval.low, 100 * test->interval.high);
}

static void write_notes(const struct history *history, FILE *f)
{
	const struct profile_counters *counters = &history->names->counters;
	double estimated = percent(counters->samples_estimated, counters->samples);

	if (estimated >= MISSING_MIN_PERCENT)
		fprintf(f, "  %.0f %% of the samples are estimated, as CpuBudget= left them out.\n",
			estimated);
	if (!history->similar)
		return;
	fputs("  Functions of similar names are hotter: ", f);
	text_write(f, history->similar);
	fputs(".\n", f);
}

/* What the lines above the table are made of. */
struct heading {
	const struct history *history;
	const char *name;
	uint64_t now_us;
};

static int write_heading(FILE *f, const void *what)
{
	const struct heading *heading = what;
	const struct history *history = heading->history;
	uint64_t now_us = heading->now_us;
	char start[TIME_SPEC_TEXT_MAX], end[TIME_SPEC_TEXT_MAX];
	const struct history_point *sum = &history->sum;

	text_write(f, heading->name);
	fprintf(f, ": %.2f %% of %" PRIu64 " sample%s", percent(sum->self, sum->samples),
		sum->samples, text_plural(sum->samples));
	if (history->has_total)
		fprintf(f, ", %.2f %% with its callees", percent(sum->total, sum->samples));
	fprintf(f, ", %s to %s\n", time_spec_format(start, sum->start_us, now_us),
		time_spec_format(end, sum->end_us, now_us));
	write_change(history, now_us, f);
	write_notes(history, f);
	write_sparkline(history, f);
	return 0;
}

/* What the other columns leave; all of it where lines have any length. */
static size_t bar_width(const struct history *history, const struct output *output, uint64_t now_us)
{
	char text[TIME_SPEC_TEXT_MAX];
	size_t taken = 0,
	       others = strlen(" SAMPLES 100.00% ") + history->has_total * strlen("100.00% ");

	for (size_t i = 0; i < history->n_points; i++) {
		time_spec_format(text, history->points[i].start_us, now_us);
		taken = MAX(taken, strlen(text) + others);
	}
	if (output->width == 0 || output->width >= taken + MAX_BAR)
		return MAX_BAR;
	return output->width > taken ? output->width - taken : 0;
}

static int set_bar(struct table *table, size_t column, double part, size_t width)
{
	const char *brick = spark_is_utf8() ? "█" : "#";
	char text[MAX_BAR * 3 + 1] = "";

	for (size_t i = 0; (double)i + 0.5 < part * (double)width && i < width; i++)
		strcat(text, brick);
	return table_set(table, column, text);
}

static int add_columns(struct table *table, bool has_total)
{
	int r = table_add_column(table, "START", 0);

	if (r >= 0)
		r = table_add_column(table, "SAMPLES", TABLE_RIGHT);
	if (r >= 0)
		r = table_add_column(table, "SELF", TABLE_RIGHT);
	if (r >= 0 && has_total)
		r = table_add_column(table, "TOTAL", TABLE_RIGHT);
	return r < 0 ? r : table_add_column(table, "", 0);
}

/* Of a point without samples. */
static const char *name_gap(const struct history *history, const struct history_point *point)
{
	uint64_t middle_us = point->start_us + (point->end_us - point->start_us) / 2;

	return mark_ref_is_removed(&history->windows.all, middle_us) ? "removed" : "-";
}

/* How points are written. */
struct row_format {
	uint64_t now_us;
	size_t bar_width;
};

static int add_point(struct table *table, const struct history *history, size_t i,
		     const struct row_format *format)
{
	const struct history_point *point = &history->points[i];
	double share = percent(shown(history, point), point->samples);
	double largest = largest_percent(history);
	char start[TIME_SPEC_TEXT_MAX];
	size_t column = 0;
	int r = table_add_row(table);

	if (r >= 0)
		r = table_set(table, column++,
			      time_spec_format(start, point->start_us, format->now_us));
	if (r >= 0 && point->samples == 0)
		return table_set(table, column, name_gap(history, point));
	if (r >= 0)
		r = table_printf(table, column++, "%" PRIu64, point->samples);
	if (r >= 0)
		r = table_printf(table, column++, "%.2f%%", percent(point->self, point->samples));
	if (r >= 0 && history->has_total)
		r = table_printf(table, column++, "%.2f%%", percent(point->total, point->samples));
	if (r >= 0 && history->change.time_us > 0 && i == history->change.point)
		r = table_set_color(table, column - 1,
				    history->change.test.difference > 0 ? "red" : "green");
	return r < 0 ? r :
		       set_bar(table, column, largest > 0 ? share / largest : 0, format->bar_width);
}

int history_write_table(const struct history *history, const char *name, uint64_t now_us,
			struct output *output)
{
	const struct heading heading = { history, name, now_us };
	const struct row_format format = { now_us, bar_width(history, output, now_us) };
	_cleanup_(table_freep) struct table *table = NULL;
	_cleanup_free_ char *text = NULL;
	int r = table_new(&table, output->f, output->width, output->colors);

	if (r >= 0)
		r = add_columns(table, history->has_total);
	for (size_t i = 0; r >= 0 && i < history->n_points; i++)
		r = add_point(table, history, i, &format);
	if (r < 0)
		return r;
	text = text_of(write_heading, &heading);
	if (!text)
		return -ENOMEM;
	wrap_write(output->f, text, output->width, 2);
	fputc('\n', output->f);
	return table_print(table);
}

static json_t *json_interval(struct interval interval)
{
	return json_pack("[f, f]", 100 * interval.low, 100 * interval.high);
}

static json_t *json_point(const struct history *history, const struct history_point *point)
{
	json_t *object = json_pack("{s:f, s:f, s:I}", "start", (double)point->start_us / 1e6,
				   "length", (double)(point->end_us - point->start_us) / 1e6,
				   "windows", (json_int_t)point->n_windows);
	bool known = point->samples > 0, total = known && history->has_total;

	json_object_set_new(object, "samples",
			    known ? json_integer((json_int_t)point->samples) : json_null());
	json_object_set_new(object, "self",
			    known ? json_integer((json_int_t)point->self) : json_null());
	json_object_set_new(object, "total",
			    total ? json_integer((json_int_t)point->total) : json_null());
	json_object_set_new(object, "self_percent",
			    known ? json_real(percent(point->self, point->samples)) : json_null());
	json_object_set_new(object, "total_percent",
			    total ? json_real(percent(point->total, point->samples)) : json_null());
	json_object_set_new(
		object, "interval",
		known ? json_interval(interval_of_estimate(shown(history, point), point->samples,
							   history_unit(history, point))) :
			json_null());
	return object;
}

static json_t *json_change(const struct history *history)
{
	const struct significance *test = &history->change.test;

	if (history->change.time_us == 0)
		return json_null();
	return json_pack("{s:f, s:f, s:f, s:f, s:o, s:f}", "time",
			 (double)history->change.time_us / 1e6, "old_percent",
			 100 * test->shares[SIDE_OLD], "new_percent", 100 * test->shares[SIDE_NEW],
			 "delta_percent", 100 * test->difference, "interval",
			 json_interval(test->interval), "p_value", test->p_value);
}

int history_write_json(const struct history *history, const struct profile_filter *filter, FILE *f)
{
	json_t *points = json_array();
	json_t *object = json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:o, s:o, s:o}", "symbol",
				   filter->symbol, "object", filter->object, "unit", filter->unit,
				   "container", filter->container, "comm", filter->comm, "sum",
				   json_point(history, &history->sum), "change",
				   json_change(history), "points", points);

	for (size_t i = 0; object && i < history->n_points; i++)
		json_array_append_new(points, json_point(history, &history->points[i]));
	return json_write(f, object, JSON_TIME_PRECISION);
}
