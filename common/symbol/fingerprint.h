/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fingerprint: a hash of machine code that stays the same where the code was only moved, or what
 * it calls and refers to was, and is another one where it does something else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/disassembler.h"

/* A fingerprint of code that is at hand piece by piece. */
struct fingerprint {
	struct disassembler *disassembler;
	uint64_t address, size, n_done, hash;
};

/* Of @size bytes of code at @address, that go together: a function, or a block. @disassembler is
 * borrowed. */
void fingerprint_start(struct fingerprint *ret, struct disassembler *disassembler, uint64_t size,
		       uint64_t address);

/*
 * The next @n bytes. How many of them are done with: the rest, fewer than INSTRUCTION_MAX, is to be
 * given again with what follows, unless nothing does.
 */
size_t fingerprint_add(struct fingerprint *fingerprint, const uint8_t *code, size_t n);

/* Where a branch leads counts if that is within the code, and then by its distance. Never 0. */
uint64_t fingerprint_end(const struct fingerprint *fingerprint);

/* Of code that is at hand as a whole. */
uint64_t fingerprint_code(struct disassembler *disassembler, const uint8_t *code, size_t n,
			  uint64_t address);
