/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source lines and inlined calls, out of DWARF.
 *
 * For those who look at a few functions: what is read stays in memory, and files are mapped, so
 * that a file that becomes shorter meanwhile ends the reader. Not for a daemon.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/symbolizer-types.h"
#include "common/util/macro.h"

struct lines;

/* Takes @fd in any case. 0, -ENODATA where it has no debug information, or another errno. */
int lines_open(struct lines **ret, int fd);
int lines_open_path(struct lines **ret, const char *path);
struct lines *lines_free(struct lines *lines);
DEFINE_CLEANUP(struct lines *, lines_free);

/*
 * As symbolizer_lines(), by address in the terms of the ELF file. @function is what the symbols
 * call the function there, which is more than DWARF knows of some; or NULL. Strings are borrowed
 * from @lines. The number of frames, 0 where nothing is known, or -ENOMEM.
 */
int lines_find(struct lines *lines, uint64_t address, const char *function,
	       struct source_frame *ret, size_t n);
