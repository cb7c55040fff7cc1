/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

#define VARINT_MAX 10 /* bytes */

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

void protobuf_done(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf){};
}

void protobuf_clear(struct protobuf *message)
{
	message->n = 0;
}

void protobuf_varint(struct protobuf *message, uint64_t value)
{
	if (message->r < 0)
		return;
	message->r = ARRAY_RESERVE(&message->bytes, &message->cap, message->n + VARINT_MAX);
	if (message->r < 0)
		return;
	for (; value >= 0x80; value >>= 7)
		message->bytes[message->n++] = (uint8_t)(value | 0x80);
	message->bytes[message->n++] = (uint8_t)value;
}

static void put_tag(struct protobuf *message, unsigned int field, enum wire_type type)
{
	protobuf_varint(message, field << 3 | type);
}

void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value)
{
	if (value != 0)
		protobuf_number_of_oneof(message, field, value);
}

void protobuf_number_of_oneof(struct protobuf *message, unsigned int field, uint64_t value)
{
	put_tag(message, field, WIRE_VARINT);
	protobuf_varint(message, value);
}

void protobuf_fixed64(struct protobuf *message, unsigned int field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(message, field, WIRE_FIXED64);
	if (message->r >= 0)
		message->r = ARRAY_RESERVE(&message->bytes, &message->cap, message->n + 8);
	for (int i = 0; message->r >= 0 && i < 64; i += 8)
		message->bytes[message->n++] = (uint8_t)(value >> i);
}

void protobuf_bytes(struct protobuf *message, unsigned int field, const void *bytes, size_t n)
{
	put_tag(message, field, WIRE_BYTES);
	protobuf_varint(message, n);
	if (message->r >= 0)
		message->r = ARRAY_RESERVE(&message->bytes, &message->cap, message->n + n);
	if (message->r < 0 || n == 0)
		return;
	memcpy(message->bytes + message->n, bytes, n);
	message->n += n;
}

void protobuf_append(struct protobuf *message, const struct protobuf *fields)
{
	if (message->r >= 0)
		message->r = fields->r < 0 ? fields->r :
					     ARRAY_RESERVE(&message->bytes, &message->cap,
							   message->n + fields->n);
	if (message->r < 0 || fields->n == 0)
		return;
	memcpy(message->bytes + message->n, fields->bytes, fields->n);
	message->n += fields->n;
}

void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *value)
{
	protobuf_bytes(message, field, value->bytes, value->n);
	if (value->r < 0)
		message->r = value->r;
}
