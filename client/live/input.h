/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A line that the user types: keys to UTF-8 text. */
#pragma once

#include <stddef.h>

/* Changes @text, of @n bytes, by @key of screen.h; what does not fit is left out. */
void live_input_press(char *text, size_t n, int key);
