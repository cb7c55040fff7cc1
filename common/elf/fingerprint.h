/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fingerprint: a hash of machine code. It stays the same if the code, or its call targets and
 * data, only moved; it changes if the code does something else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/elf/disassembler.h"

/* A fingerprint of code that is read piece by piece. */
struct fingerprint {
	struct disassembler *disassembler;
	uint64_t address, size, n_done, hash;
};

/* Starts a fingerprint of a function or block: @size bytes at @address. Borrows @disassembler. */
void fingerprint_start(struct fingerprint *ret, struct disassembler *disassembler, uint64_t size,
		       uint64_t address);

/*
 * Adds the next @n bytes and returns how many were consumed. The caller passes the rest, fewer than
 * INSTRUCTION_MAX bytes, again together with the bytes that follow, if any.
 */
size_t fingerprint_add(struct fingerprint *fingerprint, const uint8_t *code, size_t n);

/* The fingerprint, never 0. A branch target counts, by its offset, if it is within the code. */
uint64_t fingerprint_end(const struct fingerprint *fingerprint);
