/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Aligns two versions of a function's machine code, instruction by instruction.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/symbol/disassembly.h"

#define ALIGN_NONE   UINT32_MAX       /* the instruction was changed or removed */
#define ALIGN_INSIDE (UINT32_MAX - 1) /* no instruction begins there */

struct code_align_side {
	const struct disassembly *instructions;
	size_t n; /* bytes */
	uint64_t address;
};

/*
 * (*@ret)[i] is the new offset of the instruction at offset i of the old code, or one of the values
 * above. It is as long as the old code; the caller frees it. 0 or -ENOMEM.
 */
int code_align_functions(uint32_t **ret, const struct code_align_side *old_code,
			 const struct code_align_side *new_code);

/*
 * The other direction: (*@ret)[i] is the old offset of the instruction at offset i of the new code.
 * The pairs are the same as those of code_align_functions().
 */
int code_align_back(uint32_t **ret, const struct code_align_side *new_code,
		    const struct code_align_side *old_code);
