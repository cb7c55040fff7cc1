/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream for people: a line for each branch of its path, newest first. */
#pragma once

#include <stddef.h>

#include "client/stream/stream.h"
#include "client/term/output.h"
#include "client/view/place.h"

/*
 * "main demo.c:12 -> read_line demo.c:40"; without lines "main+0x12 -> read_line+0x0". The second
 * name is left out if it equals the first. Names are shortened to fit @width; SIZE_MAX: unlimited.
 * A heap string, or NULL.
 */
char *stream_text_step(const struct places *places, const struct view_stream_step *step,
		       size_t width);

/*
 * The mark of a loop before the text of step @i: "| " or "". @ret_turns, of STREAM_TEXT_TURNS
 * bytes, goes behind it: " (5 times)" at the last step of a loop, else "".
 */
#define STREAM_TEXT_TURNS 24
const char *stream_text_loop(const struct view_stream_step *steps, size_t i, char *ret_turns);

/* Writes the branches of a row, and a note on pruned paths. 0 or -ENOMEM. */
int stream_text_write(const struct places *places, struct output *output,
		      const struct view_streams *streams, const struct view_stream *stream);
