/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of an unwind table as bytes. A row is the distance from the one before, which the first one
 * does not have, and then its rule: twice the number, and one more if a function starts. Both are
 * numbers of variable length (LEB128 of DWARF): mostly one byte each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNWIND_FUNCTION 0x8000u /* of a row's rule: a function, or a part of one, starts here */

struct unwind_row {
	uint32_t start;
	uint16_t rule_id; /* an index of rules; UNWIND_FUNCTION may be set */
};

#define PACKED_ROW_MAX_BYTES 8

/* Of one part, the first row of which is at @start. */
struct packed_rows {
	const uint8_t *at, *end;
	uint32_t start;
	bool begun;
};

/* A number of at most 32 bits, in no more bytes than it needs. */
static inline bool packed_rows_read(struct packed_rows *rows, uint32_t *ret)
{
	uint32_t n = 0;

	for (unsigned int shift = 0; shift < 32 && rows->at < rows->end; shift += 7) {
		uint8_t byte = *rows->at++;

		n |= (uint32_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*ret = n;
		return shift == 0 || (byte > 0 && (shift < 28 || byte < 0x10));
	}
	return false;
}

/* The next row; false at the end, or where the bytes are no row. */
static inline bool packed_rows_next(struct packed_rows *rows, struct unwind_row *ret)
{
	uint32_t distance = 0, rule;

	if (rows->begun && (!packed_rows_read(rows, &distance) || distance == 0 ||
			    distance > UINT32_MAX - rows->start))
		return false;
	if (!packed_rows_read(rows, &rule) || rule > UINT16_MAX)
		return false;
	rows->begun = true;
	rows->start += distance;
	ret->start = rows->start;
	ret->rule_id = (uint16_t)(rule >> 1 | (rule & 1 ? UNWIND_FUNCTION : 0));
	return true;
}

/*
 * Writes a row whose distance is @distance, 0 for the first one: at most PACKED_ROW_MAX_BYTES to
 * @to. Their number.
 */
size_t packed_rows_write(uint8_t *to, uint32_t distance, uint16_t rule_id);
