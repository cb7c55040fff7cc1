/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source lines of a function whose code is another, where only the code tells: of such a line some
 * instructions may be as they were, but the line was changed all the same, as whoever has the
 * sources would say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol/symbolizer.h"

/* A function on one side, as code_align_functions() compared it with the other. */
struct changed_code {
	struct symbolizer *symbolizer;
	const struct profile_object *object;
	uint64_t start;
	const uint32_t *to;
	size_t n;
};

/*
 * (*@ret)[i], for the caller to free, is whether the instruction at offset i of @own is of a line
 * of which, there or where it is in @other, any instruction is only on one side. Without debug
 * information only those are that are so themselves. 0 or -ENOMEM.
 */
int changed_lines_find(bool **ret, const struct changed_code *own,
		       const struct changed_code *other);
