/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream for people: a line for each branch of its path, newest first. */
#pragma once

#include <stddef.h>

#include "client/view/place.h"
#include "client/view/stream.h"

/*
 * "main demo.c:12 -> read_line demo.c:40", without the second name where it is the same; without
 * lines "main+0x12 -> read_line+0x0". Names are shortened where it is longer than @width, SIZE_MAX:
 * as long as it is. A heap string, or NULL.
 */
char *stream_text_step(const struct places *places, const struct view_stream_step *step,
		       size_t width);

/*
 * What stands before and behind that of step @i of @n, for a loop: "| ", and " (5 times)" at its
 * last one, or "". The latter needs room for STREAM_TEXT_TURNS bytes.
 */
#define STREAM_TEXT_TURNS 24
const char *stream_text_loop(const struct view_stream_step *steps, size_t i, char *ret_turns);
