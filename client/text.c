/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/text.h"

#include <stdbool.h>

/* A control character: of ASCII, or (in UTF-8) of the second set, where 0x9b begins a sequence. */
static bool is_control(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] >= 0x80 && s[1] <= 0x9f);
}

static int write_clean(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int n = 0;

	for (; *s; s++)
		if (!is_control(s)) {
			putc(*s, f);
			n++;
		} else
			n += fprintf(f, "\\x%02x", *s);
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
