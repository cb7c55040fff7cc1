/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The piece of code that a frame counts for, where calls are shown by function: its function;
 * without a symbol the range that its call frame information gives it, which is a function without
 * a name; without both all such code of its object. By instruction no path would be hot.
 *
 * Ranges are read of the objects that matter: in whose code without symbols one sample in twenty
 * was taken. Of a large program, such as a compiler, reading them takes a second.
 */
#pragma once

#include <stdbool.h>

#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

struct code_units {
	const struct profile *profile;
	struct symbolizer *symbolizer;
	bool *has_ranges; /* by object */
};

/* Borrows both; @symbolizer may be NULL: no ranges. 0 or -ENOMEM. */
int code_units_init(struct code_units *units, const struct profile *profile,
		    struct symbolizer *symbolizer);
void code_units_done(struct code_units *units);

/* The start of the unit of @at; code_unit_is_object() if that is the object. */
struct location code_unit_find(const struct code_units *units, struct location at);

bool code_unit_is_object(struct location unit);
