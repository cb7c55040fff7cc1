/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records put together field by field, for tests of what reads them. */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include <linux/perf_event.h>

struct bytes {
	_Alignas(8) char data[65536 + 8];
	size_t n;
};

static inline void put(struct bytes *b, const void *p, size_t n)
{
	assert(b->n + n <= sizeof(b->data));
	if (n > 0)
		memcpy(b->data + b->n, p, n);
	b->n += n;
}

static inline void put_u16(struct bytes *b, uint16_t value)
{
	put(b, &value, sizeof(value));
}

static inline void put_u32(struct bytes *b, uint32_t value)
{
	put(b, &value, sizeof(value));
}

static inline void put_u64(struct bytes *b, uint64_t value)
{
	put(b, &value, sizeof(value));
}

/* With its zero, padded to 8 bytes. */
static inline void put_string(struct bytes *b, const char *s)
{
	static const char zeros[8];
	size_t n = strlen(s) + 1;

	put(b, s, n);
	put(b, zeros, -n & 7);
}

static inline void begin_record(struct bytes *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	b->n = 0;
	put(b, &header, sizeof(header));
}

/* Its size is what was put so far. */
static inline const struct perf_event_header *end_record(struct bytes *b)
{
	struct perf_event_header *header = (struct perf_event_header *)b->data;

	assert(b->n <= UINT16_MAX);
	header->size = (uint16_t)b->n;
	return header;
}
