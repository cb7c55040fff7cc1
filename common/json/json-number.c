/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/json/json-number.h"

#include <stddef.h>

char *json_put_decimal(char *at, uint64_t value)
{
	char digits[20];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	while (n > 0)
		*at++ = digits[--n];
	return at;
}

char *json_put_hex(char *at, uint64_t value)
{
	int shift = value ? 60 - __builtin_clzll(value) / 4 * 4 : 0;

	for (; shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[value >> shift & 15];
	return at;
}
