/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes that grow, of LEB128 numbers; function-blob.h reads them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/array.h"

struct byte_writer {
	uint8_t *data;
	size_t n, cap;
	bool failed; /* out of memory */
};

static inline void byte_writer_put(struct byte_writer *bytes, uint64_t number)
{
	if (ARRAY_RESERVE(&bytes->data, &bytes->cap, bytes->n + 10) < 0) {
		bytes->failed = true;
		return;
	}
	for (; number >= 0x80; number >>= 7)
		bytes->data[bytes->n++] = (uint8_t)(number | 0x80);
	bytes->data[bytes->n++] = (uint8_t)number;
}
