/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes messages of Protocol Buffers: fields of numbers and bytes. Once memory has run out, all
 * later calls do nothing; protobuf.r says so at the end.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct protobuf {
	uint8_t *bytes;
	size_t n, cap;
	int r; /* 0 or -ENOMEM */
};

void protobuf_done(struct protobuf *message);
void protobuf_clear(struct protobuf *message);

/* A number in the wire format, without a field. */
void protobuf_varint(struct protobuf *message, uint64_t value);

/* The fields of another message. */
void protobuf_append(struct protobuf *message, const struct protobuf *fields);

/* Fields. A number of 0 is the default and left out. */
void protobuf_number(struct protobuf *message, unsigned int field, uint64_t value);
/* In a oneof 0 is no default. */
void protobuf_number_of_oneof(struct protobuf *message, unsigned int field, uint64_t value);
void protobuf_fixed64(struct protobuf *message, unsigned int field, uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned int field, const void *bytes, size_t n);
void protobuf_message(struct protobuf *message, unsigned int field, const struct protobuf *value);
