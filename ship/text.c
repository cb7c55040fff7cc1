/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/text.h"

#include <time.h>

void text_put(FILE *f, const char *value)
{
	for (; value && *value; value++)
		switch (*value) {
		case '\t':
			fputs("\\t", f);
			break;
		case '\n':
			fputs("\\n", f);
			break;
		case '\\':
			fputs("\\\\", f);
			break;
		default:
			fputc(*value, f);
		}
}

void text_put_hex(FILE *f, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%02x", bytes[i]);
}

void text_put_day(FILE *f, uint64_t day)
{
	time_t t = (time_t)(day * 86400);
	struct tm tm;
	char text[16];

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d", &tm);
	fputs(text, f);
}
