/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/term/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/cleanup.h"

/* The length of the UTF-8 character with this first byte; 0 if the byte is invalid. */
static size_t expected_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/*
 * The length of a printable character; 0 for control characters (of ASCII, and 0x80 to 0x9f) and
 * invalid UTF-8, which an 8-bit terminal could take for control characters.
 */
static size_t clean_length(const unsigned char *s)
{
	size_t n = expected_length(s[0]);

	if (s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90)) /* an overlong form */
		return 0;
	if ((s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf4 && s[1] > 0x8f)) /* surrogates; too large */
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

const char *text_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
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

char *text_of(int (*write)(FILE *f, const void *what), const void *what)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *f = open_memstream(&text, &n_bytes);
	int r;

	if (!f)
		return NULL;
	r = write(f, what);
	if (fclose(f) == 0 && r >= 0)
		return text;
	free(text);
	return NULL;
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
