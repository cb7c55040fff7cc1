/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names in plain text. A program may call itself anything: what would move the cursor or break a
 * line, and what is no UTF-8, is written as \x1b instead.
 */
#pragma once

#include <stdio.h>

#include "common/util/macro.h"

void text_write(FILE *f, const char *text);
/* Followed by blanks to at least @width bytes. */
void text_write_padded(FILE *f, const char *text, int width);
/* One line to the user, whatever is in it: "branchctl: ", the text, a newline. */
void text_say(FILE *f, const char *format, ...) _printf_(2, 3);
