/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/printable.h"

#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 sequence at @s if it is printable, else 0. */
static size_t sequence_length(const uint8_t *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t c;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	c = s[0] & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c < 0xa0)
		return 0;
	return n;
}

void printable_make(char *text)
{
	for (uint8_t *s = (uint8_t *)text; *s;) {
		size_t n = sequence_length(s);

		if (!n)
			*s = '?';
		s += n ? n : 1;
	}
}
