/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as text, where so many are written that printf() would take most of the time. */
#pragma once

#include <stdint.h>

#define JSON_DECIMAL_MAX 20 /* digits */

/* Without a NUL; hexadecimal is without 0x. The end of what was written. */
char *json_put_decimal(char *at, uint64_t value);
char *json_put_hex(char *at, uint64_t value);
