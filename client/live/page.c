/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Only the rows on the screen are formatted. A row of a table is one line. A stack or stream has
 * many lines, so the visible ones are selected after formatting. The line at the cursor is
 * reversed, without its colours.
 */
#include "client/live/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/live/foot.h"
#include "client/live/head.h"
#include "client/live/help.h"
#include "client/live/line.h"
#include "client/render/top-table.h"
#include "client/term/color.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"

#define REVERSE "\033[7m"
#define NORMAL  "\033[0m"
#define BOLD    "\033[1m"

#define POSITION_MAX 80

static const struct live_screen *screen_of(const struct live_page *page)
{
	return &page->state->screens[page->state->depth];
}

static bool is_of_rows(const struct live_page *page)
{
	return screen_of(page)->kind == LIVE_ROWS;
}

/* A line of headings above the lines that scroll. */
static bool has_headings(const struct live_page *page)
{
	return is_of_rows(page) && !live_line_has_paths(page->top);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

size_t live_page_n_lines(const struct live_page *page)
{
	if (page->state->help)
		return live_help_lines(page->n_columns);
	return is_of_rows(page) ? live_line_count(page->top) : count_lines(page->body);
}

size_t live_page_room(const struct live_page *page)
{
	size_t taken = live_foot_lines(page);

	if (!page->state->help)
		taken += live_head_lines(page) + (has_headings(page) ? 1 : 0);
	return page->n_rows > taken ? page->n_rows - taken : 1;
}

/* In reverse up to the end of the screen's line. */
static void write_marked(FILE *f, const struct live_page *page, const char *line, size_t n)
{
	fputs(REVERSE, f);
	for (size_t i = 0; i < n; i++)
		if (line[i] == '\033')
			i += strcspn(line + i, "m");
		else
			fputc(line[i], f);
	fprintf(f, "%*s" NORMAL "\n", (int)page->n_columns, "");
}

/* Which lines of a text. */
struct lines {
	size_t first, n;
	size_t marked; /* of those; SIZE_MAX: none */
};

/* The number of lines written. */
static size_t write_lines(FILE *f, const struct live_page *page, const char *text,
			  const struct lines *lines)
{
	size_t first = lines->first, written = 0;

	for (; text && *text && written<lines->n; first -= first> 0) {
		size_t length = strcspn(text, "\n");

		if (first == 0 && written == lines->marked) {
			write_marked(f, page, text, length);
			written++;
		} else if (first == 0) {
			fwrite(text, 1, length, f);
			fputc('\n', f);
			written++;
		}
		text += length + (text[length] == '\n');
	}
	return written;
}

/* Selects the visible rows; the number of lines of the first one that are above the screen. */
static size_t choose_rows(const struct live_page *page, size_t room)
{
	struct top *top = page->top;
	size_t skipped = screen_of(page)->cursor.scroll, n = 0;

	top->first = 0;
	if (!live_line_has_paths(top)) {
		top->first = MIN(skipped, top->n_rows);
		top->n_shown = MIN(room, top->n_rows - top->first);
		return 0;
	}
	while (top->first < top->n_rows && skipped >= live_line_count_of(top, top->first))
		skipped -= live_line_count_of(top, top->first++);
	for (top->n_shown = 0; top->first + top->n_shown < top->n_rows && n < skipped + room;
	     top->n_shown++)
		n += live_line_count_of(top, top->first + top->n_shown);
	return skipped;
}

struct rows {
	const struct top *top;
	size_t width;
	bool colors;
};

static int write_rows(FILE *f, const void *what)
{
	const struct rows *rows = what;
	struct output output = { .f = f, .width = rows->width, .colors = rows->colors };

	return top_write_rows(rows->top, &output);
}

/* Fills all lines of the room. */
static int write_body(FILE *f, const struct live_page *page)
{
	const struct live_cursor *cursor = &screen_of(page)->cursor;
	const struct rows rows = { page->top, page->n_columns, page->colors };
	size_t room = live_page_room(page), n = 0;
	struct lines lines = { cursor->scroll, room, cursor->line - cursor->scroll };
	_cleanup_free_ char *text = NULL;

	if (has_headings(page))
		room = ++lines.n;
	if (page->top && is_of_rows(page)) {
		lines.first = choose_rows(page, live_page_room(page));
		text = text_of(write_rows, &rows);
		if (!text)
			return -ENOMEM;
		lines.marked += has_headings(page) ? 1 : 0;
		if (page->top->n_rows == 0)
			lines.marked = SIZE_MAX;
		else if (has_headings(page))
			fputs(BOLD, f);
		n = write_lines(f, page, text, &lines);
	} else if (page->body) {
		n = write_lines(f, page, page->body, &lines);
	}
	for (; n < room; n++)
		fputc('\n', f);
	return 0;
}

/* "  1-19 of 41", unless all lines are on the screen. */
static void format_position(char ret[POSITION_MAX], const struct live_page *page)
{
	size_t n_lines = live_page_n_lines(page), room = live_page_room(page);
	size_t scroll = page->state->help ? page->state->help_cursor.scroll :
					    screen_of(page)->cursor.scroll;

	ret[0] = '\0';
	if (n_lines > room)
		snprintf(ret, POSITION_MAX, "  %zu-%zu of %zu", scroll + 1,
			 MIN(scroll + room, n_lines), n_lines);
}

static void write_foot(FILE *f, const struct live_page *page)
{
	char position[POSITION_MAX];

	format_position(position, page);
	live_foot_write(f, page, position);
}

static int write_help(FILE *f, const void *width)
{
	live_help_write(f, *(const size_t *)width);
	return 0;
}

static int write_help_page(FILE *f, const struct live_page *page)
{
	const struct lines lines = { page->state->help_cursor.scroll, live_page_room(page),
				     SIZE_MAX };
	_cleanup_free_ char *text = text_of(write_help, &page->n_columns);

	if (!text)
		return -ENOMEM;
	for (size_t n = write_lines(f, page, text, &lines); n < lines.n; n++)
		fputc('\n', f);
	write_foot(f, page);
	return 0;
}

static int write_page(FILE *f, const void *what)
{
	const struct live_page *page = what;

	if (page->state->help)
		return write_help_page(f, page);
	live_head_write(f, page);
	if (write_body(f, page) < 0)
		return -ENOMEM;
	write_foot(f, page);
	return 0;
}

char *live_page_format(const struct live_page *page)
{
	return text_of(write_page, page);
}
