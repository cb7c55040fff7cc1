/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon keeps the counts of functions with each window, so all points are one cheap call. */
#include "client/history/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/cluster/cluster-times.h"
#include "client/rpc/connection.h"
#include "client/source/similar-names.h"
#include "common/profile/filter.h"
#include "common/profile/scale.h"
#include "common/util/cleanup.h"

#define HOT_SHARE 0.01
#define FEW_PARTS 48 /* where the counts of all functions travel */

/* How to count: what is asked for, which places of the reply, and in which parts of the points. */
struct counting {
	const struct history_settings *settings;
	struct connection *connection;
	struct time_parts times;
	size_t n_each;                 /* parts of each point */
	struct cluster_times *cluster; /* instead of the connection; or NULL */
	bool by_place;
	struct history_point *parts; /* what was counted */
};

struct history *history_free(struct history *history)
{
	if (!history)
		return NULL;
	history_windows_done(&history->windows);
	profile_free(history->names);
	free(history->points);
	free(history->similar);
	free(history);
	return NULL;
}

/*
 * The functions that suffice: those of an object are its own count, and patterns are for the client
 * to match. NULL: all.
 */
static const char *suffices(const struct counting *counting)
{
	const struct profile_filter *filter = &counting->settings->source.filter;

	if (!filter->symbol)
		return "";
	return strpbrk(filter->symbol, "*?[,") ? NULL : filter->symbol;
}

static uint64_t part_start_us(const struct counting *counting, size_t part)
{
	const struct time_parts *times = &counting->times;
	double length = (double)(times->end_us - times->start_us) / (double)times->n;

	return times->start_us + (uint64_t)((double)part * length);
}

static int compare_lengths(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* As many points that no window of usual length leaves one empty; 0: out of memory. */
static size_t count_points(const struct history *history, uint64_t span_us, size_t n_wanted)
{
	size_t n = history->windows.n;
	_cleanup_free_ uint64_t *lengths = calloc(n, sizeof(*lengths));
	uint64_t median_us;

	if (!lengths)
		return 0;
	for (size_t i = 0; i < n; i++)
		lengths[i] = history_window(&history->windows, i)->length_us;
	qsort(lengths, n, sizeof(*lengths), compare_lengths);
	median_us = lengths[n / 2];
	if (median_us > 0)
		n = MIN(n, (size_t)(span_us / median_us));
	n = MAX(n, (size_t)1);
	return MIN(n_wanted, n);
}

/* Points of equal length that cover all windows, and parts of equal length of each. */
static int make_points(struct history *history, struct counting *counting)
{
	uint64_t start_us = history_window(&history->windows, 0)->start_us;
	uint64_t end_us = windows_end_us(history_window(&history->windows, history->windows.n - 1));
	size_t n = count_points(history, end_us - start_us, counting->settings->n_points);
	size_t limit = suffices(counting) ? HISTORY_MAX_POINTS : FEW_PARTS;
	size_t n_parts = MIN(limit, history->windows.n);

	if (n == 0)
		return -ENOMEM;
	counting->n_each = MAX(n_parts / n, (size_t)1);
	counting->times = (struct time_parts){
		.start_us = start_us,
		.end_us = end_us,
		.n = n * counting->n_each,
	};
	history->n_points = n;
	history->points = calloc(n, sizeof(*history->points));
	counting->parts = calloc(counting->times.n, sizeof(*counting->parts));
	if (!history->points || !counting->parts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		history->points[i].start_us = part_start_us(counting, i * counting->n_each);
		history->points[i].end_us = part_start_us(counting, (i + 1) * counting->n_each);
	}
	return 0;
}

static void count_windows(const struct history *history, const struct counting *counting)
{
	size_t at = 0;

	for (size_t i = 0; i < history->windows.n; i++) {
		const struct window_info *window = history_window(&history->windows, i);

		at = MAX(at, time_part_of(&counting->times, window->start_us, window->length_us));
		history->points[at / counting->n_each].n_windows++;
	}
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

static void count_places(struct history_point *ret, const struct counting *counting,
			 const struct functions *functions, const struct functions_part *part)
{
	ret->samples = part->samples;
	for (size_t i = 0; i < part->n_rows; i++) {
		const struct functions_row *row = &part->rows[i];

		if (!is_wanted(counting, functions, &functions->places[row->place]))
			continue;
		ret->self += row->self;
		ret->total += row->total;
		ret->total_variance += row->variance;
	}
	/* what calls another function of that name is counted with it */
	ret->total = MIN(ret->total, ret->samples);
}

static int count(struct functions **ret, const struct counting *counting,
		 const struct history *history, const struct profile_filter *processes,
		 struct fault *fault)
{
	const struct profile_filter *filter = &counting->settings->source.filter;
	const struct history_part span = {
		.end = history->windows.n,
		.n_parts = counting->times.n,
		.times = &counting->times,
		.by = filter->object && !filter->symbol ? FUNCTIONS_BY_OBJECT :
							  FUNCTIONS_BY_FUNCTION,
		.symbol = suffices(counting),
	};
	int r;

	if (counting->cluster)
		return cluster_times_count(ret, counting->cluster,
					   counting->by_place ? CLUSTER_BY_FUNCTION :
								CLUSTER_BY_UNIT,
					   !processes, fault);
	r = history_count(ret, counting->connection, &history->windows, &span, processes, fault);
	if (r >= 0 && (*ret)->n_parts != counting->times.n)
		return fault_set(fault, -EBADMSG, "branchd sent another number of parts");
	return r;
}

static int count_parts(struct history *history, const struct counting *counting,
		       struct fault *fault)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_(functions_freep) struct functions *all = NULL;
	int r = count(&functions, counting, history, &counting->settings->source.filter, fault);

	if (r >= 0 && !counting->by_place)
		r = count(&all, counting, history, NULL, fault);
	for (size_t i = 0; r >= 0 && i < counting->times.n; i++) {
		struct history_point *part = &counting->parts[i];

		if (counting->by_place) {
			count_places(part, counting, functions, &functions->parts[i]);
		} else {
			part->self = functions->parts[i].samples;
			part->samples = all->parts[i].samples;
		}
		if (!history->has_total)
			part->total = 0;
	}
	if (r < 0)
		return r;
	history->names = all ? TAKE_PTR(all->profile) : TAKE_PTR(functions->profile);
	return 0;
}

static void add(struct history_point *sum, const struct history_point *point)
{
	sum->n_windows += point->n_windows;
	sum->samples += point->samples;
	sum->self += point->self;
	sum->total += point->total;
	sum->total_variance += point->total_variance;
}

static void add_up(struct history *history, const struct counting *counting)
{
	for (size_t i = 0; i < counting->times.n; i++)
		add(&history->points[i / counting->n_each], &counting->parts[i]);
	for (size_t i = 0; i < history->n_points; i++)
		add(&history->sum, &history->points[i]);
	history->sum.start_us = history->points[0].start_us;
	history->sum.end_us = history->points[history->n_points - 1].end_us;
}

double history_unit(const struct history *history, const struct history_point *point)
{
	const struct profile_counters *counters = &history->names->counters;

	if (history->sum.self > 0)
		return profile_sample_unit(counters);
	return profile_row_unit(counters, point->total, point->total_variance);
}

/* Parts without samples are not in the series. */
static int find_change(struct history *history, const struct counting *counting)
{
	size_t n = counting->times.n;
	_cleanup_free_ uint64_t *counts = calloc(2 * n, sizeof(*counts));
	_cleanup_free_ size_t *parts = calloc(n, sizeof(*parts));
	struct history_series series = { .counts = counts };
	bool by_total = history->sum.self == 0;
	struct history_change change;

	if (!counts || !parts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct history_point *part = &counting->parts[i];

		if (part->samples == 0)
			continue;
		counts[series.n] = by_total ? part->total : part->self;
		counts[n + series.n] = part->samples;
		parts[series.n++] = i;
	}
	series.samples = counts + n;
	series.unit = history_unit(history, &history->sum);
	history_change_find(&change, &series);
	if (change.at > 0)
		history->change = (struct history_found){
			.point = parts[change.at] / counting->n_each,
			.time_us = part_start_us(counting, parts[change.at]),
			.test = change.test,
		};
	return 0;
}

static bool is_hot(const struct history_point *sum)
{
	return sum->self > (uint64_t)((double)sum->samples * HOT_SHARE);
}

/* It asks for all functions, which are not needed otherwise. No names, no hint. */
static void find_similar(struct history *history, const struct counting *counting)
{
	const struct profile_filter *filter = &counting->settings->source.filter;
	const struct history_part span = { .end = history->windows.n, .n_parts = 1 };
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_free_ uint64_t *samples = NULL;
	struct fault ignored;

	if (!filter->symbol || is_hot(&history->sum) ||
	    history_count(&functions, counting->connection, &history->windows, &span, filter,
			  &ignored) < 0)
		return;
	samples = calloc(functions->profile->n_functions + 1, sizeof(*samples));
	if (!samples)
		return;
	for (size_t i = 0; functions->n_parts > 0 && i < functions->parts[0].n_rows; i++) {
		const struct functions_row *row = &functions->parts[0].rows[i];
		uint32_t function = functions->places[row->place].function;

		if (function != PROFILE_NONE)
			samples[function] += row->self;
	}
	history->similar = similar_names_format_counts(functions->profile, samples, filter->symbol);
}

/* Of the points that are made. */
static int fill(struct history *history, struct counting *counting, struct fault *fault)
{
	int r = count_parts(history, counting, fault);

	if (r < 0)
		return r;
	add_up(history, counting);
	r = find_change(history, counting);
	return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}

static int fill_of_daemon(struct history *history, struct counting *counting, struct fault *fault)
{
	const struct profile_source_settings *source = &counting->settings->source;
	_cleanup_(connection_freep) struct connection *opened = NULL;
	int r = 0;

	counting->connection = source->connection;
	if (!counting->connection)
		r = connection_open(&opened, source->socket, fault);
	if (r < 0)
		return r;
	counting->connection = counting->connection ?: opened;
	r = history_windows_find(&history->windows, counting->connection, source, fault);
	if (r < 0)
		return r;
	r = make_points(history, counting);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	count_windows(history, counting);
	r = fill(history, counting, fault);
	if (r < 0)
		return r;
	find_similar(history, counting);
	return 0;
}

/* A part is a point: finer ones would be of a finer table, with as many more rows to read. */
static int make_cluster_points(struct history *history, struct counting *counting)
{
	const struct cluster_times *times = counting->cluster;
	uint64_t start_us = times->question.where.span.start * 1000000;
	uint64_t part_us = times->question.part_s * 1000000;

	counting->n_each = 1;
	counting->times = (struct time_parts){
		.start_us = start_us,
		.end_us = start_us + times->n * part_us,
		.n = times->n,
	};
	history->n_points = times->n;
	history->points = calloc(times->n, sizeof(*history->points));
	counting->parts = calloc(times->n, sizeof(*counting->parts));
	if (!history->points || !counting->parts)
		return -ENOMEM;
	for (size_t i = 0; i < times->n; i++)
		history->points[i] = (struct history_point){ .start_us = start_us + i * part_us,
							     .end_us = start_us + (i + 1) * part_us,
							     .n_windows = times->n_windows[i] };
	return 0;
}

static int fill_of_cluster(struct history *history, struct counting *counting, struct fault *fault)
{
	const struct history_settings *settings = counting->settings;
	const struct cluster_source_settings cluster = { .cluster = settings->cluster,
							 .source = settings->source };
	_cleanup_(cluster_times_done) struct cluster_times times = {};
	int r = cluster_times_open(&times, &cluster, settings->n_points, fault);

	if (r < 0)
		return r;
	counting->cluster = &times;
	r = make_cluster_points(history, counting);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	return fill(history, counting, fault);
}

int history_new(struct history **ret, const struct history_settings *settings, struct fault *fault)
{
	const struct profile_filter *filter = &settings->source.filter;
	_cleanup_(history_freep) struct history *history = calloc(1, sizeof(*history));
	struct counting counting = { .settings = settings,
				     .by_place = filter->symbol || filter->object };
	int r;

	if (!history)
		return fault_set(fault, -ENOMEM, "out of memory");
	history->has_total = filter->symbol;
	r = settings->cluster.url ? fill_of_cluster(history, &counting, fault) :
				    fill_of_daemon(history, &counting, fault);
	free(counting.parts);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(history);
	return 0;
}
