/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/json/json-text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"

#define ESCAPE_BYTES 3 /* of U+EF80..U+EFFF in UTF-8: ee be 80 .. ee bf bf */

static bool is_escape(const unsigned char *s)
{
	return s[0] == 0xee && (s[1] == 0xbe || s[1] == 0xbf) && (s[2] & 0xc0) == 0x80;
}

/* The length of the character at the start of @s; 0 if it is invalid or an escape. */
static size_t character_length(const unsigned char *s)
{
	/* by the first byte: the length, and the bounds of the second; Unicode, table 3-7 */
	static const struct {
		unsigned char first, last, length, low, high;
	} ranges[] = {
		{ 0x01, 0x7f, 1, 0, 0 },       { 0xc2, 0xdf, 2, 0x80, 0xbf },
		{ 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
		{ 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf },
		{ 0xf0, 0xf0, 4, 0x90, 0xbf }, { 0xf1, 0xf3, 4, 0x80, 0xbf },
		{ 0xf4, 0xf4, 4, 0x80, 0x8f },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (*s < ranges[i].first || *s > ranges[i].last)
			continue;
		if (ranges[i].length > 1 && (s[1] < ranges[i].low || s[1] > ranges[i].high))
			return 0;
		for (size_t k = 2; k < ranges[i].length; k++) {
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		}
		return is_escape(s) ? 0 : ranges[i].length;
	}
	return 0;
}

static const unsigned char *first_invalid(const unsigned char *s)
{
	size_t n;

	while (*s && (n = character_length(s)) > 0)
		s += n;
	return s;
}

json_t *json_text(const char *bytes)
{
	const unsigned char *s = (const unsigned char *)bytes;
	_cleanup_free_ char *text = NULL;
	size_t n = 0, length;

	if (!bytes)
		return json_null();
	if (!*first_invalid(s))
		return json_string_nocheck(bytes);
	text = malloc(strlen(bytes) * ESCAPE_BYTES + 1);
	if (!text)
		return NULL;
	for (; *s; s += length ?: 1) {
		length = character_length(s);
		if (length > 0) {
			memcpy(text + n, s, length);
			n += length;
			continue;
		}
		text[n++] = (char)0xee;
		text[n++] = (char)(0xbe | (*s >> 6 & 1));
		text[n++] = (char)(0x80 | (*s & 0x3f));
	}
	return json_stringn_nocheck(text, n);
}

char *json_text_bytes(const char *text)
{
	char *bytes = strdup(text);
	const unsigned char *s = (const unsigned char *)bytes;
	size_t n = 0;

	if (!bytes || !strchr(bytes, 0xee))
		return bytes;
	while (*s) {
		if (is_escape(s)) {
			bytes[n++] = (char)(0x80 | (s[1] & 1) << 6 | (s[2] & 0x3f));
			s += ESCAPE_BYTES;
		} else {
			bytes[n++] = (char)*s++;
		}
	}
	bytes[n] = '\0';
	return bytes;
}
