/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fingerprint of code that is in memory as a whole. */
#pragma once

#include "common/elf/fingerprint.h"

static inline uint64_t whole_fingerprint(struct disassembler *disassembler, const uint8_t *code,
					 size_t n, uint64_t address)
{
	struct fingerprint fingerprint;

	fingerprint_start(&fingerprint, disassembler, n, address);
	fingerprint_add(&fingerprint, code, n);
	return fingerprint_end(&fingerprint);
}
