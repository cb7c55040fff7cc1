/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which source line became which: diff(1) compares two trees of sources, before and after, file by
 * file.
 *
 * The longest end of a file's path in the debug information that exists below a folder is the file:
 * "/build/demo-1.2/src/main.c" may be src/main.c or main.c below it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/stats/side.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct line_map;

/* Borrows both paths. -errno and @fault where one of them is not a readable folder. */
int line_map_new(struct line_map **ret, const char *before, const char *after, struct fault *fault);
struct line_map *line_map_free(struct line_map *map);
DEFINE_CLEANUP(struct line_map *, line_map_free);

struct source_line {
	const char *file;
	uint32_t number; /* from 1 on */
};

/*
 * Finds @line of side @side, named as in its debug information, on the other side: 1 and *@ret; 0
 * where the other side does not have the line, because it was changed, removed or added; -ENOENT
 * where the folder does not have the file; another negative errno and @fault where diff fails.
 * With 1 and 0 ret->file is the path below the folder, valid as long as the map.
 */
int line_map_find(struct line_map *map, enum side side, struct source_line line,
		  struct source_line *ret, struct fault *fault);
