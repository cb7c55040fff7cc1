/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions of a JIT compiler, from the text that it writes to /tmp/perf-PID.map: lines of
 * START SIZE NAME, both numbers hexadecimal. Offsets are addresses.
 *
 * Anybody can write these files. What is no such line is skipped and counted. The newest lines are
 * the last ones, so of a file that is too long the end counts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/elf/file.h"

#define JIT_SYMBOLS_MAX_BYTES (64u << 20)  /* of the end of a file */
#define JIT_SYMBOLS_MAX       (512u << 10) /* lines, the last ones */

/*
 * Reads the file at @fd, which it takes in any case, as one with symbols and nothing else.
 * *@ret_malformed is the number of lines skipped. 0, -ENOMEM or the error of reading it.
 */
int jit_symbols_open(struct elf_file **ret, int fd, uint64_t *ret_malformed);

/* The same of @n bytes in memory, which it takes in any case. */
int jit_symbols_read(struct symbol_table **ret, char *text, size_t n, uint64_t *ret_malformed);
