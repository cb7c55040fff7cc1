/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of /proc/PID/maps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end, file_offset;
	uint32_t major, minor;
	uint64_t inode; /* 0: no file */
	bool executable;
	const char *path; /* "" without one */
};

/*
 * Parses "55d0c4a2f000-55d0c4a34000 r-xp 00002000 fd:01 1573 /usr/bin/cat". Changes @line, and
 * borrows the path from it. False: it is no such line.
 */
bool maps_line_parse(char *line, struct maps_line *ret);
