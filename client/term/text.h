/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names as plain text. A program may have any name, so control characters and invalid UTF-8 are
 * written as \x1b.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "common/util/macro.h"

void text_write(FILE *f, const char *text);
/* Pads with blanks to @width bytes. */
void text_write_padded(FILE *f, const char *text, int width);
/* What the word for @n of something ends in: "s", or nothing. */
const char *text_plural(uint64_t n);
/*
 * A heap copy of all that @write, which returns 0 or -errno, writes of @what; NULL if it fails or
 * out of memory.
 */
char *text_of(int (*write)(FILE *f, const void *what), const void *what);
/* A message to the user in one line: "branchctl: ", the text, a newline. */
void text_say(FILE *f, const char *format, ...) _printf_(2, 3);
