/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cursor: a line among those that scroll. On the first line it stays there, whatever that is;
 * elsewhere it follows what the line shows, by its identity, wherever that moves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_cursor {
	size_t line;       /* the number of its line, */
	size_t scroll;     /* and of the first line on the screen */
	uint64_t identity; /* of what it follows; 0: nothing */
	bool placed;       /* by a key, or where the text has it begin */
};

/* True if @key moves it: the screen has room for @n_page of @n_lines. It follows nothing then. */
bool live_cursor_press(struct live_cursor *cursor, int key, size_t n_page, size_t n_lines);

/* Keeps it within the lines, and on the screen. */
void live_cursor_clamp(struct live_cursor *cursor, size_t n_page, size_t n_lines);

/* Puts it on @line, unless a key has put it elsewhere. */
void live_cursor_place(struct live_cursor *cursor, size_t line, size_t n_page);
