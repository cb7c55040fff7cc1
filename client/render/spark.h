/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sparklines: a character for each point of a series, as high as the value; of UTF-8, or of ASCII
 * where the locale has no UTF-8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SPARK_BYTES 3 /* of a character, at most */

/* Whether the locale has UTF-8. */
bool spark_is_utf8(void);

/* Writes the character of @value, from 0 to @largest; a negative value is unknown: a blank. */
void spark_write(FILE *f, double value, double largest);

/*
 * Formats @n values to @ret, of SPARK_BYTES * @n_columns + 1 bytes, in at most @n_columns
 * characters: where these are fewer, each is the mean of some values. The largest has the full
 * height.
 */
void spark_format(char *ret, size_t n_columns, const double *values, size_t n);
