/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which source line became which: two trees of sources, before and after, compared file by file by
 * diff(1).
 *
 * A file of the debug information is found below a folder by the end of its path, the longest that
 * is there: "/build/demo-1.2/src/main.c" may be src/main.c or main.c below it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/stats/side.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct line_map;

/* -errno and @fault where either is no folder that can be read. Both are borrowed. */
int line_map_new(struct line_map **ret, const char *before, const char *after, struct fault *fault);
struct line_map *line_map_free(struct line_map *map);
DEFINE_CLEANUP(struct line_map *, line_map_free);

/*
 * Where line @line of @file is on the other side; both are as the debug information of side @side
 * calls them. 1, and
 * *@ret_line; 0 where there is no such line there, for it was changed, or is gone or new; -ENOENT
 * where there is no such file below the folder; another negative errno and @fault where diff fails.
 * *@ret_file is the path below the folder in the first two cases, valid as long as the map.
 */
int line_map_find(struct line_map *map, enum side side, const char *file, uint32_t line,
		  const char **ret_file, uint32_t *ret_line, struct fault *fault);
