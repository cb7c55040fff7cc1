/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/parser/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define ALIGN(n)   (((n) + 7) & ~(size_t)7)
#define SHORT_TEXT 64 /* bytes of a string when the room gets small */

void message_writer_done(struct message_writer *writer)
{
	free(writer->bytes);
	*writer = (struct message_writer){};
}

size_t message_reserve(struct message_writer *writer, size_t n)
{
	size_t at = writer->n;

	if (writer->r < 0)
		return 0;
	if (n > MESSAGE_MAX || at > MESSAGE_MAX - ALIGN(n)) {
		writer->r = -EMSGSIZE;
		return 0;
	}
	writer->r = ARRAY_RESERVE(&writer->bytes, &writer->cap, at + ALIGN(n));
	if (writer->r < 0)
		return 0;
	memset(writer->bytes + at, 0, ALIGN(n));
	writer->n += ALIGN(n);
	return at;
}

void message_write(struct message_writer *writer, const void *part, size_t n)
{
	size_t at = message_reserve(writer, n);

	if (writer->r >= 0 && n)
		memcpy(writer->bytes + at, part, n);
}

int message_text_add(struct message_text *text, const char *string, uint32_t *ret)
{
	size_t n;
	int r;

	*ret = MESSAGE_NO_TEXT;
	if (!string)
		return 0;
	n = strlen(string);
	if (text->n > MESSAGE_TEXT / 2 && n > SHORT_TEXT)
		n = SHORT_TEXT;
	if (n > MESSAGE_TEXT - text->n - 1)
		return 0;
	r = ARRAY_RESERVE(&text->text, &text->cap, text->n + n + 1);
	if (r < 0)
		return r;
	*ret = (uint32_t)text->n;
	memcpy(text->text + text->n, string, n);
	text->text[text->n + n] = 0;
	text->n += n + 1;
	return 0;
}

const void *message_read(struct message_reader *reader, size_t n, size_t size)
{
	const uint8_t *part = reader->bytes;

	if (n > reader->n / size || ALIGN(n * size) > reader->n)
		return NULL;
	reader->bytes += ALIGN(n * size);
	reader->n -= ALIGN(n * size);
	return part;
}
