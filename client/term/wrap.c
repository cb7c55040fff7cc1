/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/term/wrap.h"

#include <string.h>

/* Of UTF-8, whose characters are taken as one column wide; sequences for colours have none. */
static size_t count_columns(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		if (text[i] == '\033')
			i += strcspn(text + i, "m");
		else
			columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

/* A word has the blanks before it. */
static size_t word_length(const char *text, size_t n)
{
	size_t length = 0;

	while (length < n && text[length] == ' ')
		length++;
	while (length < n && text[length] != ' ')
		length++;
	return length;
}

static void write_line(FILE *f, const char *line, size_t n, size_t width, size_t indent)
{
	size_t column = 0;

	while (n > 0) {
		size_t length = word_length(line, n), columns = count_columns(line, length);

		if (column > 0 && width > 0 && column + columns > width) {
			size_t n_blanks = strspn(line, " ");

			fprintf(f, "\n%*s", (int)indent, "");
			column = indent - n_blanks;
			fwrite(line + n_blanks, 1, length - n_blanks, f);
		} else {
			fwrite(line, 1, length, f);
		}
		column += columns;
		line += length;
		n -= length;
	}
}

void wrap_write(FILE *f, const char *text, size_t width, size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		write_line(f, text, n, width, indent);
		text += n;
		if (*text == '\n')
			fputc(*text++, f);
	}
}
