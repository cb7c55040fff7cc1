/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source lines and inlined calls, from DWARF.
 *
 * All data read stays in memory, and files are mapped, so a file that is truncated in the meantime
 * kills the reader.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/object/source-frame.h"
#include "common/util/macro.h"

struct lines;

/* Takes @fd in any case. 0; -ENODATA without debug information; or another negative errno. */
int lines_open(struct lines **ret, int fd);
struct lines *lines_free(struct lines *lines);
DEFINE_CLEANUP(struct lines *, lines_free);

/*
 * The source lines of an address of the ELF file: the inlined calls, innermost first, then the
 * function itself, at most @n. @function is the name from the symbol
 * table, which DWARF does not have for all functions, or NULL. Strings are borrowed from @lines.
 * The number of frames, 0 if there are none, or -ENOMEM.
 */
int lines_find(struct lines *lines, uint64_t address, const char *function,
	       struct source_frame *ret, size_t n);
