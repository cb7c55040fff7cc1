/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes numbers as text. Faster than printf(), which would take most of the time here. */
#pragma once

#include <stdint.h>

#define JSON_DECIMAL_MAX 20 /* digits */

/* Write without a NUL, hexadecimal without 0x. Return the end of the text. */
char *json_put_decimal(char *at, uint64_t value);
char *json_put_hex(char *at, uint64_t value);
