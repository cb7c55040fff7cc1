/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One decoded instruction. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/branch-kind.h"

#define INSTRUCTION_MAX 16 /* bytes */

struct instruction {
	uint64_t address;
	size_t size;
	const char *text; /* "jne 0x1234"; borrowed from what decoded it. NULL: not asked for */
	enum branch_kind kind; /* BRANCH_UNKNOWN: no branch */
	bool has_target;       /* a direct branch, or an address relative to the instruction */
	uint64_t target;
	bool is_data; /* not decoded */

	/* Its bytes, with the bits of relative distances zeroed: the same after code moved. */
	uint8_t fixed[INSTRUCTION_MAX];
};
