/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colours: whether output has any, and which. */
#pragma once

#include <stdbool.h>

enum color_mode {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

/* The words of --color; -EINVAL for any other word. */
int color_parse(enum color_mode *ret, const char *word);

/*
 * True if the output gets colours. COLOR_AUTO colours a terminal that can show them, unless
 * NO_COLOR is set (no-color.org).
 */
bool color_wanted(enum color_mode mode, bool is_terminal);

/* Escape sequences of ECMA-48; "" without colours. */
#define COLOR_DIM(on)   ((on) ? "\033[2m" : "")
#define COLOR_BOLD(on)  ((on) ? "\033[1m" : "")
#define COLOR_RED(on)   ((on) ? "\033[31m" : "")
#define COLOR_GREEN(on) ((on) ? "\033[32m" : "")
#define COLOR_RESET(on) ((on) ? "\033[0m" : "")

/* From these shares of samples on a row is red, or else green. */
#define COLOR_HOT_PERCENT  5
#define COLOR_WARM_PERCENT 0.5
