/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/cli/options/cluster.h"
#include "client/cli/options/counts.h"
#include "client/diff/diff.h"
#include "client/render/diff/json.h"
#include "client/render/diff/table.h"
#include "client/render/problems.h"
#include "client/source/profile-source.h"
#include "client/term/color.h"
#include "client/term/output.h"
#include "client/term/text.h"
#include "common/util/macro.h"

#define N_REPORTED  3
#define MAX_WINDOWS 12 /* whole ones for a page; a busy one takes a tenth of a second */

/* Of a page of several kinds: what each shows. */
static const struct {
	enum view_by by;
	size_t n_rows;
} reported[N_REPORTED] = { { VIEW_FUNCTION, 5 }, { VIEW_STREAM, 3 }, { VIEW_BLOCK, 4 } };

struct sides {
	struct profile_source *of[N_SIDES];
};

static void sides_done(struct sides *sides)
{
	for (int side = 0; side < N_SIDES; side++)
		sides->of[side] = profile_source_free(sides->of[side]);
}

/* By hosts, which are independent of each other. */
static int open_cluster(struct sides *ret, const struct options *options, struct fault *fault)
{
	const char *const windows[] = { options->source.window, options->new_window };
	struct cluster_source_settings settings = {
		.cluster = options->cluster,
		.source = options->source,
		.by = options_cluster_by(options->top.by),
		.by_host = true,
	};
	int r = 0;

	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		settings.source.window = windows[side];
		if (options->n_build_ids == N_SIDES) {
			settings.cluster.build_id = options->build_ids[side];
			settings.cluster.without_build_id = options->build_ids[!side];
		}
		r = cluster_source_open(&ret->of[side], &settings, fault);
	}
	return r;
}

static int open_sides(struct sides *ret, const struct options *options, bool counts,
		      struct fault *fault)
{
	const char *const windows[] = { options->source.window, options->new_window };
	const char *const sockets[] = { options->source.socket, options->new_socket };
	struct profile_source_settings settings = options->source;
	int r = 0;

	settings.n_parts = DIFF_PARTS;
	settings.counts = counts && options_counts_suffice(options, &settings.by);
	if (settings.by == FUNCTIONS_BY_PROCESS)
		settings.by = FUNCTIONS_BY_PROGRAM; /* of which rows are */
	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		settings.window = windows[side];
		settings.socket = sockets[side];
		r = profile_source_open(&ret->of[side], &settings, fault);
	}
	return r;
}

/* Of streams and blocks. */
static bool has_kind(const struct profile_source *source, enum view_by by)
{
	const struct profile_counters *counters = &source->all->counters;

	return (by == VIEW_STREAM ? counters->streams : counters->runs_counted) > 0;
}

/* Without that kind on either side there is nothing to compare. */
static bool can_compare(const struct comparison *comparison, enum view_by by)
{
	for (int side = 0; side < N_SIDES; side++) {
		const struct profile_source *source = comparison->sources[side];

		if (by != VIEW_FUNCTION && (source->functions || !has_kind(source, by)))
			return false;
	}
	return true;
}

/* True if there is more than the functions that were loaded. */
static bool has_more(const struct sides *sides)
{
	for (int side = 0; side < N_SIDES; side++) {
		const struct profile_source *source = sides->of[side];

		if (source->functions &&
		    (has_kind(source, VIEW_STREAM) || has_kind(source, VIEW_BLOCK)))
			return true;
	}
	return false;
}

/* Counts of functions come soon, and are often all there is. */
static int open_needed(struct sides *ret, const struct options *options, struct fault *fault)
{
	int r = options->cluster.url ?
			open_cluster(ret, options, fault) :
			open_sides(ret, options, options->by_given || !options->json, fault);

	if (r < 0 || options->by_given || !has_more(ret) ||
	    ret->of[SIDE_OLD]->windows.n + ret->of[SIDE_NEW]->windows.n > MAX_WINDOWS)
		return r;
	sides_done(ret);
	return open_sides(ret, options, false, fault);
}

/* The views to write: those of --by; without it those of which there is something, for JSON all. */
struct views {
	struct diff *diffs[N_VIEWS];
	size_t n;
};

static void views_done(struct views *views)
{
	for (size_t i = 0; i < views->n; i++)
		diff_free(views->diffs[i]);
}

static int add_view(struct views *views, const struct comparison *comparison,
		    struct diff_settings *settings, enum view_by by, struct fault *fault)
{
	int r;

	settings->by = by;
	r = diff_new(&views->diffs[views->n], comparison, settings, fault);
	views->n += r >= 0;
	return r;
}

/* Without --by: of functions alone a table as with --by, of several kinds a page. */
static int make_report(struct views *views, const struct comparison *comparison,
		       const struct options *options, struct diff_settings *settings,
		       struct fault *fault)
{
	bool shown[N_REPORTED];
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < N_REPORTED; i++) {
		shown[i] = options->json || can_compare(comparison, reported[i].by);
		n += shown[i];
	}
	settings->brief = n > 1 && !options->json && !options->all;
	for (size_t i = 0; r >= 0 && i < N_REPORTED; i++) {
		if (!shown[i])
			continue;
		if (settings->brief && !options->rows_given)
			settings->n_rows = reported[i].n_rows;
		r = add_view(views, comparison, settings, reported[i].by, fault);
	}
	return r;
}

static int make_views(struct views *views, const struct comparison *comparison,
		      const struct options *options, struct fault *fault)
{
	struct diff_settings settings = {
		.inlined = options->top.inlined,
		.all = options->all,
		.percent_limit = options->percent_limit,
		.n_rows = options->top.n_rows,
		.depth = options->top.depth,
		.rows_given = options->rows_given,
	};
	int r = 0;

	if (!options->by_given)
		return make_report(views, comparison, options, &settings, fault);
	for (size_t i = 0; r >= 0 && i < options->n_views; i++)
		r = add_view(views, comparison, &settings, options->views[i], fault);
	return r;
}

static int compare(struct comparison **ret, const struct sides *sides,
		   const struct options *options, struct fault *fault)
{
	const struct profile_source *const sources[N_SIDES] = { sides->of[SIDE_OLD],
								sides->of[SIDE_NEW] };
	const struct comparison_settings settings = {
		.before = options->before,
		.after = options->after,
		.changed = options->changed,
		.n_changed = options->n_changed,
	};

	return comparison_new(ret, sources, &settings, fault);
}

static void say_unknown_functions(const struct comparison *comparison,
				  const struct options *options, FILE *f)
{
	for (size_t i = 0; i < options->n_changed; i++)
		if (!change_detector_has_function(comparison->detector, options->changed[i]))
			text_say(f, "--changed-func: neither side has counts for a function '%s'",
				 options->changed[i]);
}

/* What is shown of an event. */
struct compared {
	struct sides sides;
	struct comparison *comparison;
	struct views views;
};

struct events {
	struct compared of[OPTIONS_MAX_EVENTS];
	size_t n;
};

static void events_done(struct events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		views_done(&events->of[i].views);
		comparison_free(events->of[i].comparison);
		sides_done(&events->of[i].sides);
	}
}

/* Windows of one daemon that are on both sides: what moved looks smaller than it is. */
static size_t count_common(const struct sides *sides)
{
	const struct windows *old = &sides->of[SIDE_OLD]->windows;
	const struct windows *new = &sides->of[SIDE_NEW]->windows;
	size_t n = 0;

	for (size_t i = 0, j = 0; i < old->n && j < new->n;) {
		const struct window_info *a = &old->rows[i], *b = &new->rows[j];

		n += a->start_us == b->start_us && a->id == b->id;
		i += a->start_us <= b->start_us;
		j += b->start_us <= a->start_us;
	}
	return n;
}

/* Whether all but the last window of the old side end before the new side begins. */
static bool meet_in_window(const struct sides *sides)
{
	const struct windows *old = &sides->of[SIDE_OLD]->windows;
	const struct windows *new = &sides->of[SIDE_NEW]->windows;

	return old->n > 1 && new->n > 1 && old->rows[old->n - 1].id == new->rows[0].id;
}

static void say_common(const struct sides *sides, const struct options *options, FILE *f)
{
	size_t n =
		strcmp(options->source.socket, options->new_socket) == 0 ? count_common(sides) : 0;

	if (n == 1 && meet_in_window(sides))
		text_say(f,
			 "window %" PRId64 " is on both sides, because one ends and the other "
			 "begins within it",
			 sides->of[SIDE_NEW]->windows.rows[0].id);
	else if (n > 0)
		text_say(f,
			 "%zu window%s %s on both sides: a span such as -20min goes on until now, "
			 "-20min..-10min ends earlier",
			 n, text_plural(n), n == 1 ? "is" : "are");
}

/* Lines that moved are other rows: they look as if they had come and gone. */
static void say_moved_lines(const struct diff *diff, const struct comparison *comparison, FILE *f)
{
	for (size_t i = 0; i < diff->n_shown; i++) {
		const struct diff_share_end *end = &diff->shares->rows[i].ends[SIDE_NEW];

		if (!end->there || !end->key.file ||
		    !comparison_is_rebuilt(comparison, end->key.object))
			continue;
		text_say(f,
			 "%s was rebuilt in between, and lines match by their numbers: give "
			 "--before and --after, or see --by function",
			 comparison->sources[SIDE_NEW]->shown->objects[end->key.object].path);
		return;
	}
}

static void say_moved(const struct compared *event, const struct options *options, FILE *f)
{
	for (size_t i = 0; i < event->views.n && !options->before; i++)
		if (event->views.diffs[i]->by == VIEW_LINE)
			say_moved_lines(event->views.diffs[i], event->comparison, f);
}

static bool has_no_match(const struct sides *sides)
{
	return !profile_source_has_match(sides->of[SIDE_OLD]) &&
	       !profile_source_has_match(sides->of[SIDE_NEW]);
}

static void say(const struct compared *event, const struct options *options, bool is_first, FILE *f)
{
	for (int side = 0; side < N_SIDES; side++) {
		if (side == SIDE_NEW && has_no_match(&event->sides))
			break; /* said of the old one */
		if (options->cluster.url)
			cluster_source_say(event->sides.of[side], f);
		else
			profile_source_say(event->sides.of[side], f);
		if (is_first) /* the objects of all events are the same */
			problems_say_source(event->sides.of[side], f);
	}
	if (!options->by_given && has_more(&event->sides))
		text_say(f,
			 "functions only, of more than %d windows; --by stream,block shows the "
			 "others",
			 MAX_WINDOWS);
	if (!is_first)
		return;
	say_common(&event->sides, options, f);
	say_moved(event, options, f);
	say_unknown_functions(event->comparison, options, f);
}

/* @name: NULL: the first. */
static int add_event(struct events *events, const struct options *options, const char *name,
		     struct fault *fault)
{
	struct compared *event = &events->of[events->n++];
	struct options of_event = *options;
	int r;

	of_event.source.event = name;
	r = open_needed(&event->sides, &of_event, fault);
	if (r >= 0)
		r = compare(&event->comparison, &event->sides, options, fault);
	if (r >= 0)
		r = make_views(&event->views, event->comparison, options, fault);
	if (r >= 0)
		say(event, options, events->n == 1, stderr);
	return r;
}

/* Of several events each has its name above it. */
static int write_tables(const struct events *events, const struct options *options,
			struct output *output)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < events->n; i++) {
		const struct views *views = &events->of[i].views;

		if (events->n > 1) {
			fprintf(output->f, "%s%s[ ", i > 0 ? "\n" : "", COLOR_BOLD(output->colors));
			text_write(output->f, options->events[i]);
			fprintf(output->f, " ]%s\n", COLOR_RESET(output->colors));
		}
		r = diff_write_table((const struct diff *const *)views->diffs, views->n, output);
	}
	return r;
}

static int write_json(const struct events *events, FILE *f)
{
	int r = 0;

	fputs(events->n > 1 ? "{\"events\": [\n" : "", f);
	for (size_t i = 0; r >= 0 && i < events->n; i++) {
		const struct views *views = &events->of[i].views;

		fputs(i > 0 ? ",\n" : "", f);
		r = diff_write_json((const struct diff *const *)views->diffs, views->n, f);
	}
	fputs(events->n > 1 ? "]}\n" : "", f);
	return r;
}

static bool has_match(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (!has_no_match(&events->of[i].sides))
			return true;
	return false;
}

int command_diff(const struct options *options, struct fault *fault)
{
	_cleanup_(events_done) struct events events = {};
	struct output output;
	int r = 0;

	if (options->find_change)
		return command_find_change(options, fault);
	for (size_t i = 0; r >= 0 && i < MAX(options->n_events, (size_t)1); i++)
		r = add_event(&events, options, options->events[i], fault);
	if (r < 0)
		return r;
	if (!options->json && !has_match(&events))
		return COMMAND_FOUND_NOTHING; /* a line has said so */
	output_open(&output, &options->output);
	r = options->json ? write_json(&events, output.f) : write_tables(&events, options, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	return has_match(&events) ? 0 : COMMAND_FOUND_NOTHING;
}
