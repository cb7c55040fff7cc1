/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A fingerprint: a hash of machine code that stays the same where the code was only moved, or what it
 * calls and refers to was, and is another one where it does something else.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/disassembler.h"

/* Of longer code only so many bytes count. */
#define FINGERPRINT_MAX_BYTES (64u << 10)

/*
 * Of the @n bytes of code at @address, that go together: a function, or a block. Where a branch leads counts if
 * that is within them, and then by its distance. Never 0.
 */
uint64_t fingerprint_code(struct disassembler *disassembler, const uint8_t *code, size_t n,
			  uint64_t address);
