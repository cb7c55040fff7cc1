/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines of words for a terminal: one that is too long goes on in the next line, indented, and not
 * in the middle of a word. A terminal itself would break it anywhere.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * Writes the lines of @text, each of at most @width columns if its words permit; 0: unlimited. It
 * may have colours. What goes on is indented by @indent.
 */
void wrap_write(FILE *f, const char *text, size_t width, size_t indent);
