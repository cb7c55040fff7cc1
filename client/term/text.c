/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/term/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "common/util/cleanup.h"

/* The length that the first byte of a character in UTF-8 tells, 0 where none begins with it. */
static size_t expected_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/*
 * The length of a character that may be written as it is, else 0: of a control character (of ASCII,
 * or of the second set, 0x80 to 0x9f), and of bytes that are no UTF-8, which a terminal of eight
 * bits may take for those of the second set.
 */
static size_t clean_length(const unsigned char *s)
{
	size_t n = expected_length(s[0]);

	if (s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90)) /* longer than it must be */
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static int write_clean(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int n = 0;

	while (*s) {
		size_t length = clean_length(s);

		if (length == 0)
			n += fprintf(f, "\\x%02x", *s++);
		for (; length > 0; length--, n++)
			putc(*s++, f);
	}
	return n;
}

void text_write(FILE *f, const char *text)
{
	write_clean(f, text);
}

void text_write_padded(FILE *f, const char *text, int width)
{
	for (int n = write_clean(f, text); n < width; n++)
		putc(' ', f);
}

void text_say(FILE *f, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	if (r < 0)
		text = NULL;
	fputs("branchctl: ", f);
	text_write(f, text ?: "out of memory");
	fputc('\n', f);
}
