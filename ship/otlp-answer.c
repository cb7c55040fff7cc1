/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/otlp-answer.h"

#include <stdbool.h>

#define FIELD(number, type) ((number) << 3 | (type))
#define VARINT              0
#define BYTES               2

struct reading {
	const uint8_t *at, *end;
};

static bool read_varint(struct reading *r, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* The value that follows @field, which comes first, as fields in order do. */
static bool read_first(struct reading *r, uint64_t field, uint64_t *ret)
{
	uint64_t seen;

	return read_varint(r, &seen) && seen == field && read_varint(r, ret);
}

uint64_t otlp_answer_rejected(const void *answer, size_t n)
{
	struct reading r = { answer, (const uint8_t *)answer + n };
	uint64_t n_partial, rejected;

	if (!read_first(&r, FIELD(1, BYTES), &n_partial) || n_partial > (uint64_t)(r.end - r.at))
		return 0;
	r.end = r.at + n_partial;
	return read_first(&r, FIELD(1, VARINT), &rejected) ? rejected : 0;
}
