/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/foot.h"

#include <stdlib.h>
#include <string.h>

#include "client/term/text.h"
#include "client/term/wrap.h"
#include "common/util/cleanup.h"

#define RED    "\033[31m"
#define BOLD   "\033[1m"
#define NORMAL "\033[0m"
#define NARROW 64 /* the line of keys needs as many columns */

/* NULL: none. */
static const char *message_of(const struct live_page *page)
{
	if (page->state->prompt != LIVE_PROMPT_NONE || page->state->help)
		return NULL;
	if (page->state->note[0])
		return page->state->note;
	return page->error[0] ? page->error : NULL;
}

/* Words that do not fit go on in the next line, and are told from those of others by no indent. */
static int write_message(FILE *f, const void *what)
{
	const struct live_page *page = what;
	_cleanup_free_ char *line = NULL;
	size_t n_bytes;
	FILE *clean = open_memstream(&line, &n_bytes);

	if (!clean)
		return -1;
	text_write(clean, message_of(page));
	if (fclose(clean) != 0)
		return -1;
	wrap_write(f, line, page->n_columns, 0);
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

size_t live_foot_lines(const struct live_page *page)
{
	_cleanup_free_ char *text = message_of(page) ? text_of(write_message, page) : NULL;
	size_t n = text ? count_lines(text) : 1;

	return page->n_rows < 2 * LIVE_FOOT_MAX ? 1 : MIN(n, (size_t)LIVE_FOOT_MAX);
}

/* In as many lines as live_foot_lines() says. */
static void write_lines(FILE *f, const struct live_page *page)
{
	bool is_error = !page->state->note[0];
	_cleanup_free_ char *text = text_of(write_message, page);
	size_t n_left = live_foot_lines(page);

	for (char *line = text; line && n_left > 0; n_left--) {
		char *end = strchrnul(line, '\n');

		if (is_error)
			fputs(page->colors ? RED : BOLD, f);
		fprintf(f, "%.*s%s%s", (int)(end - line), line, is_error ? NORMAL : "",
			*end && n_left > 1 ? "\n" : "");
		line = *end ? end + 1 : NULL;
	}
}

/* The end of what is typed, with room for the cursor. */
static void write_prompt(FILE *f, const struct live_page *page)
{
	const char *name = page->state->prompt == LIVE_PROMPT_FILTER ? "filter: " : "span: ";
	const char *text = page->state->input;
	size_t n_taken = strlen(name) + 1, n = strlen(text);

	while (n + n_taken > page->n_columns && *text) {
		do {
			text++;
			n--;
		} while (((unsigned char)*text & 0xc0) == 0x80);
	}
	fputs(name, f);
	text_write(f, text);
}

static void write_keys(FILE *f, const struct live_page *page)
{
	bool of_rows = page->state->screens[page->state->depth].kind == LIVE_ROWS;

	if (page->n_columns < NARROW)
		fputs(of_rows ? "h help  q quit" : "h help  Escape back", f);
	else
		fputs(of_rows ? "h help  / filter  < > order  space pause  q quit" :
				"h help  Escape back  Tab next  T span  q quit",
		      f);
	if (page->waiting)
		fputs("  asking branchd ...", f);
}

void live_foot_write(FILE *f, const struct live_page *page, const char *position)
{
	if (page->state->help) {
		fprintf(f, "Any other key leaves%s", position);
		return;
	}
	if (page->state->prompt != LIVE_PROMPT_NONE) {
		write_prompt(f, page);
		return;
	}
	if (message_of(page)) {
		write_lines(f, page);
		return;
	}
	write_keys(f, page);
	fputs(position, f);
}
