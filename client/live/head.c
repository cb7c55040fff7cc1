/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/head.h"

#include <inttypes.h>
#include <string.h>

#include "client/source/time-spec.h"
#include "client/term/elide.h"
#include "client/term/text.h"
#include "client/top/top-order.h"
#include "client/view/counters.h"
#include "client/view/missing.h"
#include "client/view/object-name.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

#define REVERSE "\033[7m"
#define NORMAL  "\033[0m"
#define BOLD    "\033[1m"

#define NARROW        60 /* columns: no room for the number of windows, or two spans */
#define LOW_SCREEN    10 /* fewer rows: one line says which screen it is */
#define LOWEST_SCREEN 4  /* and here there is no room for that */
#define MINUTES_FROM  600
#define HOURS_FROM    7200
#define MIN_GAP_US    1000000

static const struct live_screen *screen_of(const struct live_page *page)
{
	return &page->state->screens[page->state->depth];
}

static void write_length(FILE *f, uint64_t seconds)
{
	if (seconds >= HOURS_FROM)
		fprintf(f, "%.1f h", (double)seconds / 3600);
	else if (seconds >= MINUTES_FROM)
		fprintf(f, "%" PRIu64 " min", (seconds + 30) / 60);
	else
		fprintf(f, "%" PRIu64 " s", seconds);
}

static void write_span(FILE *f, const struct live_page *page)
{
	const struct windows *windows = &page->source->windows;
	char end[TIME_SPEC_TEXT_MAX];
	size_t n_closed = windows_n_closed(windows);
	uint64_t end_us;

	if (screen_of(page)->kind == LIVE_HISTORY) {
		text_write(f, page->state->span[0] ? page->state->span : "the last day");
		return;
	}
	if (page->waiting && windows->n > 0) { /* these are of what was shown before */
		text_write(f, page->state->span[0] ? page->state->span : "the last five minutes");
		return;
	}
	if (page->state->span[0]) {
		text_write(f, page->state->span);
		if (page->n_columns < NARROW)
			return;
		fputs(": ", f);
	}
	if (windows->n == 0) {
		fputs("no data yet", f);
		return;
	}
	end_us = windows_end_us(&windows->rows[windows->n - 1]);
	write_length(f, (end_us - windows->rows[0].start_us) / 1000000);
	fprintf(f, " to %s", time_spec_format(end, end_us, page->now_us));
	if (page->n_columns < NARROW)
		return;
	if (n_closed > 0)
		fprintf(f, ": %zu window%s%s", n_closed, n_closed > 1 ? "s" : "",
			n_closed < windows->n ? " + the open one" : "");
	else
		fputs(": the open window", f);
}

static void write_title(FILE *f, const struct live_page *page)
{
	const struct profile_info *info = page->source->all ? &page->source->all->info : NULL;

	if (page->state->paused)
		fputs(REVERSE " paused " NORMAL " ", f);
	if (page->host) {
		text_write(f, page->host);
		fputs(": ", f);
	}
	fputs(BOLD, f);
	text_write(f, info && info->mode ? info->mode : "branchd");
	fputs(NORMAL, f);
	if (info && info->event) {
		fputs(" of ", f);
		text_write(f, info->event);
	}
	fputs(", ", f);
	write_span(f, page);
	fputc('\n', f);
}

static void write_totals(FILE *f, const struct live_page *page)
{
	const struct profile_source *source = page->source;
	const struct profile_counters *counters;
	struct missing missing;

	if (!page->top) {
		fputc('\n', f);
		return;
	}
	counters = &source->all->counters;
	missing = missing_of(source);
	fprintf(f, "%" PRIu64 " sample%s, %" PRIu64 " missing", counters->samples,
		text_plural(counters->samples), windows_lost(&source->windows));
	if (missing.gaps_us >= MIN_GAP_US) {
		fputs(", ", f);
		write_length(f, missing.gaps_us / 1000000);
		fputs(" not sampled", f);
	}
	if (missing.estimated_percent >= MISSING_MIN_PERCENT)
		fprintf(f, ", %.0f %% estimated", missing.estimated_percent);
	if (missing_has_estimated_stacks(&missing))
		fprintf(f, ", %.0f %% captured", missing.captured_percent);
	if (counters->unmapped > 0)
		fprintf(f, ", %" PRIu64 " unmapped", counters->unmapped);
	if (counters->throttled > 0)
		fprintf(f, ", throttled %" PRIu64 " time%s", counters->throttled,
			text_plural(counters->throttled));
	if (counters->rows > 0)
		fprintf(f, "; %" PRIu64 " branch record%s, %.1f %% counted", counters->rows,
			text_plural(counters->rows),
			percent_of(counters->rows_counted, counters->rows));
	fputc('\n', f);
}

/* The view that has @by's place among the main ones while it is shown. */
static enum view_by main_view(enum view_by by)
{
	switch (by) {
	case VIEW_BRANCH_SITE:
		return VIEW_BRANCH;
	case VIEW_COMM:
		return VIEW_PROCESS;
	case VIEW_CONTAINER:
	case VIEW_USER:
		return VIEW_UNIT;
	default:
		return by;
	}
}

static size_t name_columns(enum view_by by)
{
	return strlen(view_name(by)) + strlen("[]");
}

/* All views if there is room for them; else of the main ones as many as there is, and the shown
 * one. */
static void write_views(FILE *f, const struct live_page *page)
{
	static const enum view_by views[] = { VIEW_FUNCTION, VIEW_STACK,       VIEW_STREAM,
					      VIEW_BRANCH,   VIEW_BRANCH_SITE, VIEW_BLOCK,
					      VIEW_PROCESS,  VIEW_COMM,        VIEW_OBJECT,
					      VIEW_LINE,     VIEW_UNIT,        VIEW_CONTAINER,
					      VIEW_USER };
	enum view_by shown = screen_of(page)->by;
	const char *order = top_order_name(shown, page->state->orders[shown]);
	size_t taken = name_columns(shown) + strlen(" by ") + strlen(order), all = taken;

	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		all += views[i] == shown ? 0 : name_columns(views[i]);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		enum view_by by = views[i];

		if (by == shown) {
			fprintf(f, REVERSE "[%s]" NORMAL, view_name(by));
			continue;
		}
		if (all > page->n_columns && (by != main_view(by) || by == main_view(shown)))
			continue;
		if (taken + name_columns(by) > page->n_columns)
			continue;
		fprintf(f, " %s ", view_name(by));
		taken += name_columns(by);
	}
	fprintf(f, " by %s\n", order);
}

/* "main (libc.so.6)" in @room columns. */
static void write_subject(FILE *f, const struct live_subject *subject, size_t room)
{
	const char *slash = strrchr(subject->object, '/');
	const char *object = slash && slash[1] ? slash + 1 : subject->object;
	_cleanup_free_ char *name =
		elide_name(subject->symbol[0] ? subject->symbol : "[unknown]",
			   room > strlen(object) + 3 + 8 ? room - strlen(object) - 3 : 8);

	fputs(BOLD, f);
	text_write(f, name ?: "");
	fputs(NORMAL " (", f);
	text_write(f, object);
	fputs(")\n", f);
}

static const char *const kinds[N_LIVE_KINDS] = {
	[LIVE_CALLS] = "calls",
	[LIVE_CODE] = "instructions",
	[LIVE_HISTORY] = "history",
};

static void write_kinds(FILE *f, enum live_kind shown)
{
	for (enum live_kind kind = LIVE_CALLS; kind < N_LIVE_KINDS; kind++)
		fprintf(f, kind == shown ? REVERSE "[%s]" NORMAL : " %s ", kinds[kind]);
	fputc('\n', f);
}

static void write_filter(FILE *f, const struct live_page *page)
{
	const struct profile_source *source = page->source;

	fputs("filter: " BOLD, f);
	text_write(f, screen_of(page)->filter);
	fputs(NORMAL, f);
	if (page->top && source->part)
		fprintf(f, "  (%.1f %% of the samples)",
			percent_of(source->part->counters.samples, source->all->counters.samples));
	fputc('\n', f);
}

static bool is_filtered(const struct live_page *page)
{
	return screen_of(page)->filter[0];
}

size_t live_head_lines(const struct live_page *page)
{
	if (page->n_rows < LOW_SCREEN)
		return page->n_rows < LOWEST_SCREEN ? 0 : 1;
	return is_filtered(page) ? 4 : 3;
}

/* The line that says which screen it is, alone. */
static void write_low(FILE *f, const struct live_page *page)
{
	const struct live_screen *screen = screen_of(page);

	if (screen->kind == LIVE_ROWS) {
		write_views(f, page);
		return;
	}
	fprintf(f, REVERSE "[%s]" NORMAL " ", kinds[screen->kind]);
	write_subject(f, &screen->subject, page->n_columns - MIN(page->n_columns, (size_t)15));
}

void live_head_write(FILE *f, const struct live_page *page)
{
	const struct live_screen *screen = screen_of(page);

	if (page->n_rows < LOW_SCREEN) {
		if (page->n_rows >= LOWEST_SCREEN)
			write_low(f, page);
		return;
	}
	write_title(f, page);
	if (screen->kind == LIVE_ROWS) {
		write_totals(f, page);
		write_views(f, page);
	} else {
		write_subject(f, &screen->subject, page->n_columns);
		write_kinds(f, screen->kind);
	}
	if (is_filtered(page))
		write_filter(f, page);
}
