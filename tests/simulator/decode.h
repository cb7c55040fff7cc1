/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* decode: what one x86-64 instruction is, as far as a branch recorder asks. The one file that knows
 * capstone. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct insn;

/* insn->addr is set; fills in the rest. Never fails: bytes that make no instruction become
 * INSN_OTHER of length 1. */
void decode_insn(struct insn *insn, const uint8_t *bytes, size_t n_bytes);
