/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/input.h"

#include <string.h>

#include "client/term/screen.h"

#define CONTROL_U 0x15

/* Writes @c in UTF-8; the number of bytes, at most 4. */
static size_t encode_utf8(char *to, unsigned int c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void delete_last(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && ((unsigned char)text[--n] & 0xc0) == 0x80)
		;
	text[n] = '\0';
}

void live_input_press(char *text, size_t n, int key)
{
	size_t length = strlen(text);

	if (key == SCREEN_BACKSPACE)
		delete_last(text);
	else if (key == CONTROL_U)
		text[0] = '\0';
	else if (key >= ' ' && key < SCREEN_UP && length + 4 < n)
		text[length + encode_utf8(text + length, (unsigned int)key)] = '\0';
}
