/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names in plain text. A program may call itself anything: what would move the cursor or break a
 * line is written as \x1b instead.
 */
#pragma once

#include <stdio.h>

void text_write(FILE *f, const char *text);
/* Followed by blanks to at least @width bytes. */
void text_write_padded(FILE *f, const char *text, int width);
