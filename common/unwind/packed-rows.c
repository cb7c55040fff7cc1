/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/unwind/packed-rows.h"

static uint8_t *write_number(uint8_t *to, uint32_t n)
{
	for (; n >= 0x80; n >>= 7)
		*to++ = (uint8_t)(n | 0x80);
	*to++ = (uint8_t)n;
	return to;
}

size_t packed_rows_write(uint8_t *to, uint32_t distance, uint16_t rule_id)
{
	uint32_t number = rule_id & (UNWIND_FUNCTION - 1u);
	uint8_t *at = to;

	if (distance > 0)
		at = write_number(at, distance);
	at = write_number(at, number << 1 | (rule_id & UNWIND_FUNCTION ? 1 : 0));
	return (size_t)(at - to);
}
