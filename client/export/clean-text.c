/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What text_write() writes has no control characters and is valid UTF-8; the rest is done here. */
#include "client/export/clean-text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/text.h"
#include "common/util/cleanup.h"

char *clean_text(const char *text)
{
	char *clean = NULL;
	size_t n;
	FILE *f = open_memstream(&clean, &n);

	if (!f)
		return NULL;
	text_write(f, text);
	if (fclose(f) == 0)
		return clean;
	free(clean);
	return NULL;
}

/* U+2028 and U+2029 end a line of JavaScript. */
static bool is_line_separator(const char *s)
{
	return strncmp(s, "\u2028", 3) == 0 || strncmp(s, "\u2029", 3) == 0;
}

void clean_text_json(FILE *f, const char *text)
{
	_cleanup_free_ char *clean = clean_text(text);

	putc('"', f);
	for (const char *s = clean ?: ""; *s; s++)
		if (strchr("\"\\<>&'", *s))
			fprintf(f, "\\u%04x", (unsigned int)*s);
		else if (is_line_separator(s)) {
			fprintf(f, "\\u202%c", s[2] == '\xa8' ? '8' : '9');
			s += 2;
		} else
			putc(*s, f);
	putc('"', f);
}

void clean_text_html(FILE *f, const char *text)
{
	_cleanup_free_ char *clean = clean_text(text);

	for (const char *s = clean ?: ""; *s; s++)
		if (strchr("\"'<>&", *s))
			fprintf(f, "&#%d;", *s);
		else
			putc(*s, f);
}
