/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Only the rows on the screen are formatted. A row of a table is one line. A stack or stream has
 * many lines, so the visible ones are selected after formatting.
 */
#include "client/live/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/stack-text.h"
#include "client/render/stream-lines.h"
#include "client/render/top-table.h"
#include "client/source/time-spec.h"
#include "client/term/color.h"
#include "client/term/text.h"
#include "client/top/top-order.h"
#include "client/view/counters.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

#define REVERSE "\033[7m"
#define NORMAL  "\033[0m"
#define BOLD    "\033[1m"

#define FOOT_LINES 1

static size_t n_head_lines(const struct live_page *page)
{
	return page->state->filter[0] ? 4 : 3;
}

/* True if each row has many lines. */
static bool has_paths(const struct live_page *page)
{
	const struct top *top = page->top;

	return top && (top->stacks || top->by == VIEW_STREAM) && top->n_rows > 0;
}

/* A blank line, a line of numbers, and the frames; in full the branches, and a note on pruned ones.
 */
static size_t n_stream_lines(const struct top *top, size_t i)
{
	struct view_stream_step steps[VIEW_STREAM_MAX_ROWS];
	const struct view_stream *stream;

	if (top->line_streams)
		return 2 +
		       stream_lines_count(top->line_streams->tree, top->line_streams->rows[i].node);
	stream = &top->streams->rows[i];
	return 2 + view_stream_path(top->streams, stream->node, steps) + (stream->pruned > 0);
}

static size_t n_path_lines(const struct top *top, size_t i)
{
	return top->stacks ? stack_text_lines(top->stacks, &top->stacks->rows[i]) :
			     n_stream_lines(top, i);
}

size_t live_page_n_lines(const struct live_page *page)
{
	size_t n = 0;

	if (!page->top)
		return 0;
	if (!has_paths(page))
		return page->top->n_rows;
	for (size_t i = 0; i < page->top->n_rows; i++)
		n += n_path_lines(page->top, i);
	return n;
}

size_t live_page_room(const struct live_page *page)
{
	size_t taken = n_head_lines(page) + FOOT_LINES + (has_paths(page) ? 0 : 1);

	return page->n_rows > taken ? page->n_rows - taken : 1;
}

static void write_span(FILE *f, const struct live_page *page)
{
	const struct windows *windows = &page->source->windows;
	char end[TIME_SPEC_TEXT_MAX];
	size_t n_closed = windows_n_closed(windows);
	uint64_t end_us;

	if (windows->n == 0) {
		fputs("no data yet", f);
		return;
	}
	end_us = windows_end_us(&windows->rows[windows->n - 1]);
	fprintf(f, "%" PRIu64 " s to %s: ", (end_us - windows->rows[0].start_us) / 1000000,
		time_spec_format(end, end_us, page->now_us));
	if (n_closed > 0)
		fprintf(f, "%zu window%s%s", n_closed, n_closed > 1 ? "s" : "",
			n_closed < windows->n ? " + the open one" : "");
	else
		fputs("the open window", f);
}

static void write_title(FILE *f, const struct live_page *page)
{
	const struct profile_info *info = page->top ? &page->source->all->info : NULL;

	if (page->state->paused)
		fputs(REVERSE " paused " NORMAL " ", f);
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

	if (!page->top) {
		fputc('\n', f);
		return;
	}
	counters = &source->all->counters;
	fprintf(f, "%" PRIu64 " sample%s, %" PRIu64 " lost", counters->samples,
		text_plural(counters->samples), windows_lost(&source->windows));
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

static void write_views(FILE *f, const struct live_page *page)
{
	static const enum view_by shown[] = { VIEW_FUNCTION, VIEW_STACK, VIEW_STREAM,
					      VIEW_BRANCH,   VIEW_BLOCK, VIEW_PROCESS,
					      VIEW_OBJECT,   VIEW_LINE,  VIEW_UNIT };
	const struct live_state *state = page->state;

	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		enum view_by by = shown[i];
		bool is_this;

		if (by == VIEW_BRANCH && state->by == VIEW_BRANCH_SITE)
			by = VIEW_BRANCH_SITE; /* in its place: there is no room for both */
		if (by == VIEW_PROCESS && state->by == VIEW_COMM)
			by = VIEW_COMM;
		if (by == VIEW_UNIT && state->by == VIEW_CONTAINER)
			by = VIEW_CONTAINER;
		is_this = by == state->by;
		fprintf(f, "%s%s%s", is_this ? REVERSE "[" : " ", view_name(by),
			is_this ? "]" NORMAL : " ");
	}
	fprintf(f, " by %s\n", top_order_name(state->by, state->orders[state->by]));
}

static void write_filter(FILE *f, const struct live_page *page)
{
	const struct profile_source *source = page->source;

	if (!page->state->filter[0])
		return;
	fputs("filter: " BOLD, f);
	text_write(f, page->state->filter);
	fputs(NORMAL, f);
	if (page->top && source->part)
		fprintf(f, "  (%.1f %% of the samples)",
			percent_of(source->part->counters.samples, source->all->counters.samples));
	fputc('\n', f);
}

/* Writes at most @n lines of @text from line @first on; the number written. */
static size_t write_lines(FILE *f, const char *text, size_t first, size_t n)
{
	size_t written = 0;

	for (; *text && written<n; first -= first> 0) {
		size_t length = strcspn(text, "\n");

		if (first == 0) {
			fwrite(text, 1, length, f);
			fputc('\n', f);
			written++;
		}
		text += length + (text[length] == '\n');
	}
	return written;
}

/* Selects the visible rows; the number of lines of the first one that are above the screen. */
static size_t choose_rows(struct live_page page, size_t room)
{
	struct top *top = page.top;
	size_t skipped = page.state->scroll, n = 0;

	top->first = 0;
	if (!has_paths(&page)) {
		top->first = MIN(skipped, top->n_rows);
		top->n_shown = MIN(room, top->n_rows - top->first);
		return 0;
	}
	while (top->first < top->n_rows && skipped >= n_path_lines(top, top->first))
		skipped -= n_path_lines(top, top->first++);
	for (top->n_shown = 0; top->first + top->n_shown < top->n_rows && n < skipped + room;
	     top->n_shown++)
		n += n_path_lines(top, top->first + top->n_shown);
	return skipped;
}

/* Fills all lines of the room. */
static int write_rows(FILE *f, const struct live_page *page)
{
	size_t room = live_page_room(page), n = 0, skipped;
	bool has_headings = page->top && !has_paths(page);
	_cleanup_free_ char *text = NULL;
	size_t n_bytes;
	struct output output = { .width = page->n_columns, .colors = page->colors };
	int r = 0;

	if (page->top) {
		skipped = choose_rows(*page, room);
		output.f = open_memstream(&text, &n_bytes);
		if (!output.f)
			return -ENOMEM;
		r = top_write_rows(page->top, &output);
		if (fclose(output.f) != 0 || r < 0)
			return -ENOMEM;
		if (has_headings && page->top->n_rows > 0)
			fputs(BOLD, f);
		n = write_lines(f, text, skipped, room + has_headings);
	}
	for (; n < room + !has_paths(page); n++)
		fputc('\n', f);
	return 0;
}

static void write_foot(FILE *f, const struct live_page *page)
{
	size_t n_lines = live_page_n_lines(page), room = live_page_room(page);

	if (page->state->typing) {
		fputs("filter: ", f);
		text_write(f, page->state->input);
		return;
	}
	if (page->error[0]) {
		fputs(page->colors ? "\033[31m" : BOLD, f);
		text_write(f, page->error);
		return;
	}
	fputs("h help  / filter  < > order  space pause  q quit", f);
	if (n_lines > room)
		fprintf(f, "  %zu-%zu of %zu", page->state->scroll + 1,
			MIN(page->state->scroll + room, n_lines), n_lines);
}

static const char help[] =
	BOLD "What is shown" NORMAL "\n"
	     "  f function  s stack   t stream  b branch  k block  i branch-site\n"
	     "  p process   o object  l line    u unit    c comm   C container\n"
	     "  < >         change the order of the rows; of stacks: trees\n"
	     "  /           filter; Enter applies it, Escape cancels, Control-U clears it\n"
	     "                pid=4711 comm=nginx unit=ssh uid=0 object=libc.so.6 symbol=main\n"
	     "                select samples (quote a value that contains blanks);\n"
	     "                other words select rows by name\n"
	     "\n" BOLD "Keys" NORMAL "\n"
	     "  arrows, Page up, Page down, Home, End\n"
	     "  space       pause: nothing changes until you press it again\n"
	     "  Control-L   redraw the screen\n"
	     "  q           quit\n"
	     "\n" BOLD "What it means" NORMAL "\n"
	     "  The last five minutes including the open window, updated every second.\n"
	     "  SELF: samples taken there. TOTAL: samples with it anywhere in their stack.\n"
	     "  More in branchctl(1). Any key leaves this help.\n";

static int write_page(FILE *f, const struct live_page *page)
{
	if (page->state->help) {
		fputs(help, f);
		return 0;
	}
	write_title(f, page);
	write_totals(f, page);
	write_views(f, page);
	write_filter(f, page);
	if (write_rows(f, page) < 0)
		return -ENOMEM;
	write_foot(f, page);
	return 0;
}

char *live_page_format(const struct live_page *page)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *f = open_memstream(&text, &n_bytes);
	int r;

	if (!f)
		return NULL;
	r = write_page(f, page);
	if (fclose(f) == 0 && r >= 0)
		return text;
	free(text);
	return NULL;
}
