/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/line-stream.h"
#include "client/stream/line-loader.h"

/* Percent, of blocks and streams. */
#define DEFAULT_LIMIT 0.5

static bool is_clock(const struct profile_source *source)
{
	const char *event = source->all->info.event;

	return event && (strstr(event, "cpu-clock") || strstr(event, "task-clock"));
}

/* The length of the name without modifiers: without ":u" of "cycles:u", "u" of "cpu/cycles/u". */
static size_t event_length(const char *event)
{
	static const char modifiers[] = "ukhGHIpPSDWe";
	size_t n = strlen(event), end = n;

	while (end > 0 && strchr(modifiers, event[end - 1]))
		end--;
	if (end == 0 || (event[end - 1] != ':' && event[end - 1] != '/'))
		return n;
	return event[end - 1] == ':' ? end - 1 : end;
}

/* An unknown event counts as the same. */
static bool is_same_event(const char *a, const char *b)
{
	size_t n;

	if (!a || !b)
		return true;
	n = event_length(a);
	return n == event_length(b) && memcmp(a, b, n) == 0;
}

static double get_seconds(const struct profile_source *source)
{
	const struct profile_info *info = &source->all->info;
	double seconds = 0;

	if (source->is_recording)
		return (double)(info->end_ns - info->start_ns) / 1e9;
	for (size_t i = 0; i < source->windows.n; i++)
		seconds += (double)source->windows.rows[i].length_us / 1e6;
	return seconds;
}

static void describe_side(struct diff *diff, enum side which, const struct profile_source *source)
{
	double weight = (double)source->all->counters.weight * (diff->is_clock ? 1e-9 : 1);
	struct diff_side *side = &diff->sides[which];

	*side = (struct diff_side){
		.source = source,
		.places = { .profile = source->shown, .symbolizer = source->symbolizer },
		.seconds = get_seconds(source),
		.per_second = -1,
	};
	if (side->seconds > 0 && diff->same_event)
		side->per_second = weight / side->seconds;
}

static double choose_limit(const struct diff_settings *settings)
{
	if (settings->all)
		return 0;
	if (settings->percent_limit >= 0)
		return settings->percent_limit;
	return settings->by == VIEW_BLOCK || settings->by == VIEW_STREAM ? DEFAULT_LIMIT : 0;
}

static int compare(struct diff *diff, const struct comparison *with,
		   const struct diff_settings *settings, struct fault *fault)
{
	double limit = diff->limit;
	int r;

	if (diff->by == VIEW_BLOCK) {
		r = diff_blocks_new(&diff->blocks, with, limit, fault);
		diff->n_rows = r < 0 ? 0 : diff->blocks->n_rows;
		diff->n_compared = r < 0 ? 0 : diff->blocks->n_compared;
		return r;
	}
	if (diff->by == VIEW_STREAM) {
		r = settings->depth == STREAM_DEPTH_FULL ?
			    diff_streams_new(&diff->streams, with, limit, fault) :
			    diff_line_streams_new(&diff->streams, with, settings->depth, limit,
						  fault);
		diff->n_rows = r < 0 ? 0 : diff->streams->n_rows;
		diff->n_compared = r < 0 ? 0 : diff->streams->n_compared;
		return r;
	}
	r = diff_shares_new(&diff->shares, diff->by, with, settings->inlined, limit, fault);
	diff->n_rows = r < 0 ? 0 : diff->shares->n_rows;
	diff->n_compared = r < 0 ? 0 : diff->shares->n_compared;
	return r;
}

static size_t count_shown(const struct diff *diff)
{
	size_t n_of[N_DIFF_STREAM_SECTIONS] = { 0 }, n = 0;

	if (!diff->streams || diff->brief)
		return MIN(diff->n_rows, diff->n_each);
	for (size_t i = 0; i < diff->n_rows; i++)
		n_of[diff->streams->rows[i].section]++;
	for (size_t i = 0; i < N_DIFF_STREAM_SECTIONS; i++)
		n += MIN(n_of[i], diff->n_each);
	return n;
}

/* The locations of a row of the view of blocks or streams. */
static int add_row(struct line_loader loaders[N_SIDES], const struct diff *diff, size_t i)
{
	int r = 0;

	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		struct line_loader *loader = &loaders[side];

		if (diff->streams && !diff->streams->tree &&
		    diff->streams->rows[i].ends[side].there)
			r = line_loader_add_stream(loader, diff->streams->views[side],
						   diff->streams->rows[i].ends[side].node);
		if (diff->blocks && diff->blocks->rows[i].ends[side].there)
			r = line_loader_add_block(loader, &diff->blocks->rows[i].ends[side].block);
	}
	return r;
}

/* Looks up at once the source lines that the rows will ask for. */
static int load_lines(const struct diff *diff)
{
	struct line_loader loaders[N_SIDES] = {};
	int r = 0;

	/* of streams each section has rows that are shown */
	for (size_t i = 0; r >= 0 && i < (diff->streams ? diff->n_rows : diff->n_shown); i++)
		r = add_row(loaders, diff, i);
	for (int side = 0; side < N_SIDES; side++) {
		const struct profile_source *source = diff->sides[side].source;

		if (r >= 0 && diff->sides[side].places.lines)
			r = line_loader_run(&loaders[side], source->shown, source->symbolizer);
		line_loader_done(&loaders[side]);
	}
	return r;
}

int diff_new(struct diff **ret, const struct comparison *with, const struct diff_settings *settings,
	     struct fault *fault)
{
	_cleanup_(diff_freep) struct diff *diff = calloc(1, sizeof(*diff));
	int r;

	if (!diff)
		return fault_set(fault, -ENOMEM, "out of memory");
	diff->by = settings->by;
	diff->brief = settings->brief;
	diff->limit = choose_limit(settings);
	diff->is_clock = is_clock(with->sources[SIDE_OLD]) && is_clock(with->sources[SIDE_NEW]);
	diff->same_event = is_same_event(with->sources[SIDE_OLD]->all->info.event,
					 with->sources[SIDE_NEW]->all->info.event);
	for (int side = 0; side < N_SIDES; side++) {
		describe_side(diff, (enum side)side, with->sources[side]);
		diff->sides[side].places.numbered = with->sources[side]->functions &&
						    with->sources[side]->functions->are_numbered;
		diff->sides[side].places.lines =
			settings->inlined || diff->by == VIEW_STREAM || diff->by == VIEW_BLOCK;
	}
	r = compare(diff, with, settings, fault);
	if (r < 0)
		return r;
	diff->n_each = settings->n_rows;
	if (settings->n_rows == 0 || (settings->all && !settings->rows_given))
		diff->n_each = diff->n_rows;
	diff->n_shown = count_shown(diff);
	r = load_lines(diff);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	*ret = TAKE_PTR(diff);
	return 0;
}

struct diff *diff_free(struct diff *diff)
{
	if (!diff)
		return NULL;
	diff_shares_free(diff->shares);
	diff_blocks_free(diff->blocks);
	diff_streams_free(diff->streams);
	free(diff);
	return NULL;
}
