/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a kept file, see daemon/kept/kept-header.h, and what each kind of them must refuse.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "common/checksum/crc.h"
#include "daemon/kept/kept-header.h"

struct kept_bytes {
	_Alignas(8) uint8_t bytes[4096];
	size_t n;
};

typedef int (*kept_bytes_parser)(const struct kept_bytes *b);

/* As a file has it that somebody made. */
static inline void kept_bytes_set_checksum(struct kept_bytes *b)
{
	struct kept_header *header = (struct kept_header *)b->bytes;
	const size_t from = offsetof(struct kept_header, n_build_id);

	header->crc = crc_add(0, b->bytes + from, b->n - from);
}

static inline void kept_bytes_test_missing(struct kept_bytes b, kept_bytes_parser parse)
{
	size_t whole = b.n;

	for (b.n = 0; b.n < whole; b.n++)
		assert_int_equal(parse(&b), -EBADMSG);
	b.n = whole + 1;
	assert_int_equal(parse(&b), -EBADMSG);
}

static inline void kept_bytes_test_wrong_bits(struct kept_bytes b, kept_bytes_parser parse)
{
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		b.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_true(parse(&b) < 0);
		b.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_int_equal(parse(&b), 0);
}

static inline void kept_bytes_test_versions(struct kept_bytes b, kept_bytes_parser parse)
{
	struct kept_header *header = (struct kept_header *)b.bytes;

	header->format++;
	assert_int_equal(parse(&b), -ESTALE);
	header->format--;
	header->version[0]++;
	assert_int_equal(parse(&b), -ESTALE);
}
