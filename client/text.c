/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/text.h"

static int write_clean(FILE *f, const char *text)
{
	int n = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x20 && c != 0x7f) {
			putc(c, f);
			n++;
		} else
			n += fprintf(f, "\\x%02x", c);
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
