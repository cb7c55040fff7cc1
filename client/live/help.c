/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/help.h"

#include <stdbool.h>
#include <stdlib.h>

#include "client/term/text.h"
#include "client/term/wrap.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define BOLD   "\033[1m"
#define NORMAL "\033[0m"
#define WIDE   70 /* with the keys in a column of their own, as wide as the widest of them */

/* A heading has no text. The manual has the same keys. */
static const struct {
	const char *keys, *text;
} lines[] = {
	{ "Rows", NULL },
	{ "f s t", "by function, stack, stream" },
	{ "b i k", "by branch, branch-site, block" },
	{ "p o l", "by process, object, line" },
	{ "u c C U", "by unit, comm, container, user" },
	{ "< >", "another order of the rows; of stacks: trees" },
	{ "/",
	  "filter: pid=4711 comm=nginx unit=ssh uid=0 object=libc.so.6 symbol=main select samples "
	  "(quote a value that has blanks); other words select rows by name" },
	{ "Enter",
	  "of a function: its callers and callees; of a process, an object, a unit, a comm, "
	  "a container or a user: its functions" },
	{ "a H", "the function's instructions, its history" },
	{ "Functions", NULL },
	{ "Tab Left Right", "calls, instructions, history: the next, the one before" },
	{ "e a H", "calls, instructions, history" },
	{ "Enter", "of a caller or a callee: its calls" },
	{ "Everywhere", NULL },
	{ "Escape", "back to where Enter was pressed" },
	{ "Up Down",
	  "move the cursor, which follows its row; on the first row it stays there. Also "
	  "Control-P, Control-N" },
	{ "Page up, Page down", "a page. Also Control-B, Control-F" },
	{ "Home End", "to the first row, the last. Also g, G" },
	{ "+ -", "a longer, a shorter span of time, from five minutes to a day" },
	{ "T", "any span: -2h, yesterday, 10:00..10:15, @-5..; empty: the last five minutes" },
	{ "Space", "pause: nothing changes until you press it again" },
	{ "Control-L", "redraw the screen" },
	{ "h ?", "this help: arrows, Page up and Page down scroll, any other key leaves it" },
	{ "q Control-C", "quit" },
	{ "When typing", NULL },
	{ "Enter", "apply" },
	{ "Escape", "cancel" },
	{ "Control-U", "clear" },
	{ "What it means", NULL },
	{ "SELF", "samples taken there" },
	{ "TOTAL", "samples with it anywhere in their stack" },
	{ "TREND", "how SELF moved over the span: each row's own largest is the full height" },
};

void live_help_write(FILE *f, size_t width)
{
	bool wide = width >= WIDE;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		const char *keys = lines[i].keys;
		_cleanup_free_ char *line = NULL;

		if (!lines[i].text) {
			fprintf(f, BOLD "%s" NORMAL "\n", keys);
			continue;
		}
		if (asprintf(&line, wide ? "  %-19s%s\n" : "%s: %s\n", keys, lines[i].text) < 0)
			return;
		wrap_write(f, line, width, wide ? 21 : 2);
	}
}

static int write_all(FILE *f, const void *width)
{
	live_help_write(f, *(const size_t *)width);
	return 0;
}

size_t live_help_lines(size_t width)
{
	_cleanup_free_ char *text = text_of(write_all, &width);
	size_t n = 0;

	for (const char *c = text; c && *c; c++)
		n += *c == '\n';
	return n;
}
