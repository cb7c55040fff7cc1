/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules of code without call frame information, from its instructions: what compilers put
 * around a program to start and to end it (.init, .fini, crtstuff.c of GCC). x86-64.
 *
 * The code consists of whole functions. It may move the stack pointer by constants only, and where
 * ways through it meet, they must have the same frame. Of all other code nothing is said.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/elf/disassembler.h"
#include "common/unwind/table.h"

#define UNWIND_CODE_MAX 1024 /* bytes */

struct unwind_code_row {
	uint32_t at;   /* a byte of the code */
	bool function; /* one starts there */
	struct unwind_rule rule;
};

/* Fills rows of @n bytes at @address, at most UNWIND_CODE_MAX; a row lasts until the next. Their
 * number; 0 where nothing can be said. */
size_t unwind_code_read(struct disassembler *disassembler, const uint8_t *code, size_t n,
			uint64_t address, struct unwind_code_row ret[static UNWIND_CODE_MAX]);
