/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a stream by line for people: a line for each, newest first, in two columns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/stream/stream-tree.h"
#include "client/term/output.h"
#include "client/view/place.h"

#define STREAM_LINES_NOTE 32

struct stream_line {
	char *name, *place; /* "main" and "div.c:32", or "+0x30" without lines */
	bool in_loop, changed;
	char note[STREAM_LINES_NOTE]; /* " (2..12 times)" at the end of a loop, " *" if changed */
};

struct stream_lines {
	struct stream_line rows[STREAM_DEPTH_MAX];
	size_t n, name_width, place_width, note_width;
};

/* The path to @node, with the places of @side. 0 or -ENOMEM; stream_lines_done() in any case. */
int stream_lines_init(struct stream_lines *ret, const struct places *places,
		      const struct stream_tree *tree, enum side side, uint32_t node);
void stream_lines_done(struct stream_lines *lines);

/* The number of lines. */
size_t stream_lines_count(const struct stream_tree *tree, uint32_t node);

/* Where line @i of them is; the last one for all numbers beyond. */
struct location stream_lines_at(const struct stream_tree *tree, uint32_t node, size_t i);

/* True if both say the same. */
bool stream_lines_equal(const struct stream_lines *a, const struct stream_lines *b);

/* The bytes that lines need at most. */
size_t stream_lines_width(const struct stream_lines *lines);

/* Line @i within @width bytes, padded to it if @pad; SIZE_MAX: unlimited. 0 or -ENOMEM. */
int stream_lines_write(const struct stream_lines *lines, size_t i, FILE *f, size_t width, bool pad);

/* All lines of a stream of one profile. 0 or -ENOMEM. */
int stream_lines_write_all(const struct places *places, struct output *output,
			   const struct stream_tree *tree, uint32_t node);
