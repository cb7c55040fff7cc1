/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon keeps the counts of functions with each window, so all points are one cheap call. */
#include "client/history/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/rpc/connection.h"
#include "common/profile/filter.h"
#include "common/util/cleanup.h"

/* How to count: what is asked for, and which places of the reply. */
struct counting {
	const struct history_settings *settings;
	struct connection *connection;
	struct time_parts times;
	bool by_place;
};

struct history *history_free(struct history *history)
{
	if (!history)
		return NULL;
	history_windows_done(&history->windows);
	free(history->points);
	free(history);
	return NULL;
}

/* Points of equal length that cover all windows. */
static int make_points(struct history *history, struct time_parts *ret, size_t n_wanted)
{
	size_t n = MIN(n_wanted, history->windows.n);
	uint64_t start = history_window(&history->windows, 0)->start_us;
	uint64_t end = windows_end_us(history_window(&history->windows, history->windows.n - 1));
	double length = (double)(end - start) / (double)n;
	size_t at = 0;

	history->points = calloc(n, sizeof(*history->points));
	if (!history->points)
		return -ENOMEM;
	history->n_points = n;
	*ret = (struct time_parts){ start, end, n };
	for (size_t i = 0; i < n; i++) {
		history->points[i].start_us = start + (uint64_t)((double)i * length);
		history->points[i].end_us = start + (uint64_t)((double)(i + 1) * length);
	}
	for (size_t i = 0; i < history->windows.n; i++) {
		const struct window_info *window = history_window(&history->windows, i);

		at = MAX(at, time_part_of(ret, window->start_us, window->length_us));
		history->points[at].n_windows++;
	}
	return 0;
}

static bool is_wanted(const struct counting *counting, const struct functions *functions,
		      const struct functions_place *place)
{
	const struct profile_filter *filter = &counting->settings->source.filter;
	const struct profile *profile = functions->profile;

	if (filter->object &&
	    (place->object == PROFILE_NONE ||
	     !profile_object_is_in(&profile->objects[place->object], filter->object)))
		return false;
	if (!filter->symbol)
		return true;
	return place->function != PROFILE_NONE &&
	       profile_symbol_is_in(profile->functions[place->function].name, filter->symbol);
}

static void count_places(struct history_point *point, const struct counting *counting,
			 const struct functions *functions, const struct functions_part *part)
{
	point->samples = part->samples;
	for (size_t i = 0; i < part->n_rows; i++) {
		const struct functions_row *row = &part->rows[i];

		if (!is_wanted(counting, functions, &functions->places[row->place]))
			continue;
		point->self += row->self;
		point->total += row->total;
	}
	/* what calls another function of that name is counted with it */
	point->total = MIN(point->total, point->samples);
}

/*
 * The functions that suffice. Patterns are for the client to match, and where an object is chosen
 * all of its functions count: it may have several paths, of which the daemon keeps one at last.
 */
static const char *suffices(const struct counting *counting)
{
	const struct profile_filter *filter = &counting->settings->source.filter;

	if (!counting->by_place)
		return "";
	return filter->object || strpbrk(filter->symbol, "*?[,") ? NULL : filter->symbol;
}

/* Each of the parts is a point. */
static int count(struct functions **ret, const struct counting *counting,
		 const struct history *history, bool all_processes, struct fault *fault)
{
	const struct profile_filter *filter = &counting->settings->source.filter;
	const struct history_part span = {
		.end = history->windows.n,
		.n_parts = history->n_points,
		.times = &counting->times,
		.symbol = suffices(counting),
	};
	int r = history_count(ret, counting->connection, &history->windows, &span,
			      all_processes ? NULL : filter, fault);

	if (r >= 0 && (*ret)->n_parts != history->n_points)
		return fault_set(fault, -EBADMSG, "branchd sent another number of parts");
	return r;
}

static int count_points(struct history *history, const struct counting *counting,
			struct fault *fault)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_(functions_freep) struct functions *all = NULL;
	int r = count(&functions, counting, history, false, fault);

	if (r >= 0 && !counting->by_place)
		r = count(&all, counting, history, true, fault);
	for (size_t i = 0; r >= 0 && i < history->n_points; i++) {
		struct history_point *point = &history->points[i];

		if (counting->by_place) {
			count_places(point, counting, functions, &functions->parts[i]);
		} else {
			point->self = functions->parts[i].samples;
			point->samples = all->parts[i].samples;
		}
		if (!history->has_total)
			point->total = 0;
	}
	return r;
}

static void add_up(struct history *history)
{
	struct history_point *sum = &history->sum;

	for (size_t i = 0; i < history->n_points; i++) {
		const struct history_point *point = &history->points[i];

		sum->n_windows += point->n_windows;
		sum->samples += point->samples;
		sum->self += point->self;
		sum->total += point->total;
	}
	sum->start_us = history->points[0].start_us;
	sum->end_us = history->points[history->n_points - 1].end_us;
}

/* Points without windows are no part of the series. */
static int find_change(struct history *history)
{
	_cleanup_free_ uint64_t *counts = calloc(2 * history->n_points, sizeof(*counts));
	_cleanup_free_ size_t *points = calloc(history->n_points, sizeof(*points));
	struct history_series series = { .counts = counts };
	bool by_total = history->sum.self == 0;

	if (!counts || !points)
		return -ENOMEM;
	for (size_t i = 0; i < history->n_points; i++) {
		const struct history_point *point = &history->points[i];

		if (point->samples == 0)
			continue;
		counts[series.n] = by_total ? point->total : point->self;
		counts[history->n_points + series.n] = point->samples;
		points[series.n++] = i;
	}
	series.samples = counts + history->n_points;
	history_change_find(&history->change, &series);
	if (history->change.at > 0)
		history->change.at = points[history->change.at];
	return 0;
}

int history_new(struct history **ret, const struct history_settings *settings, struct fault *fault)
{
	const struct profile_filter *filter = &settings->source.filter;
	_cleanup_(history_freep) struct history *history = calloc(1, sizeof(*history));
	_cleanup_(connection_freep) struct connection *opened = NULL;
	struct connection *connection = settings->source.connection;
	struct counting counting = { .settings = settings,
				     .by_place = filter->symbol || filter->object };
	int r;

	if (!history)
		return fault_set(fault, -ENOMEM, "out of memory");
	history->has_total = filter->symbol;
	r = connection ? 0 : connection_open(&opened, settings->source.socket, fault);
	if (r < 0)
		return r;
	connection = connection ?: opened;
	counting.connection = connection;
	r = history_windows_find(&history->windows, connection, &settings->source, fault);
	if (r < 0)
		return r;
	r = make_points(history, &counting.times, settings->n_points);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	r = count_points(history, &counting, fault);
	if (r < 0)
		return r;
	add_up(history);
	r = find_change(history);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	*ret = TAKE_PTR(history);
	return 0;
}
