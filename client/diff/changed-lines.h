/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changed source lines of a function with changed code, found from the code alone. A changed line
 * may have unchanged instructions; they count as changed, as they would with the sources.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol/symbolizer.h"

/* A function of one side, and its alignment with the other by code_align_functions(). */
struct changed_code {
	struct symbolizer *symbolizer;
	const struct profile_object *object;
	uint64_t start;
	const uint32_t *to;
	size_t n;
};

/*
 * (*@ret)[i] is whether the instruction at offset i of @own belongs to a changed line: one with an
 * instruction that only one side has. Without debug information only such instructions themselves
 * are changed. The caller frees *@ret. 0 or -ENOMEM.
 */
int changed_lines_find(bool **ret, const struct changed_code *own,
		       const struct changed_code *other);
