/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A piece of machine code, decoded into instructions in one go. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/object/instruction.h"

struct strings;

/* What to decode. */
struct disassembly_code {
	uint16_t machine; /* one of EM_* in elf.h */
	const uint8_t *bytes;
	size_t n;
	uint64_t address;      /* of the first byte */
	uint64_t low, high;    /* absolute addresses in the code, see symbolizer_fixed_range() */
	struct strings *texts; /* takes the texts; NULL: without texts */
};

/* All instructions, without gaps; together they have exactly the bytes of the code. */
struct disassembly {
	struct instruction *rows;
	size_t n, cap;
};

/*
 * Appends a copy of @instruction; its text goes to @texts, or is left out if that is NULL. 0 or
 * -ENOMEM.
 */
int disassembly_add(struct disassembly *disassembly, const struct instruction *instruction,
		    struct strings *texts);
void disassembly_done(struct disassembly *disassembly);
