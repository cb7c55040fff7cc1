/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two versions of a function's machine code, instruction by instruction: which of the new are which
 * of the old.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/disassembler.h"

#define ALIGN_NONE   UINT32_MAX       /* it was changed, or is gone */
#define ALIGN_INSIDE (UINT32_MAX - 1) /* no instruction begins there */

struct code_align_side {
	const uint8_t *bytes;
	size_t n;
	uint64_t address;
	uint64_t low, high; /* as of disassembler_set_absolute() */
};

/*
 * (*@ret)[i], for the instruction at offset i of the old code, is the offset of the same one in the
 * new, or one of the above. As long as the old code, for the caller to free. 0 or -ENOMEM.
 */
int code_align_functions(uint32_t **ret, struct disassembler *disassembler,
			 const struct code_align_side *old_code,
			 const struct code_align_side *new_code);

/*
 * The other way: (*@ret)[i], for the instruction at offset i of the new code, is its offset in the
 * old. They are the same pairs that code_align_functions() finds.
 */
int code_align_back(uint32_t **ret, struct disassembler *disassembler,
		    const struct code_align_side *new_code, const struct code_align_side *old_code);
