/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The piece of code that somebody asks for: a function by its name, or an address in an object.
 */
#pragma once

#include <stdint.h>

#include "client/source/profile-source.h"
#include "common/profile/ranges.h"
#include "common/util/fault.h"

struct code_span {
	uint32_t object;
	uint64_t start, size; /* offset in the object, bytes */
	const char *name;     /* of the function, borrowed from the profile; NULL: it has none */

	struct profile_range *ranges; /* those that it has part in */
	size_t n_ranges;
	struct profile_range *all_ranges; /* of the object */
};

/*
 * The span called @wanted in what @source holds of the processes asked for: a function's name, as
 * profile_symbol_matches() has it, in @object (NULL: any); or "OBJECT:0xADDRESS", the address being
 * the ELF file's. Objects are named as profile_object_matches() has it; what could be several is
 * refused. Where no function is there, it is the code around that ran without a gap. -errno and
 * @fault.
 */
int code_span_find(struct code_span *ret, const struct profile_source *source, const char *wanted,
		   const char *object, struct fault *fault);
void code_span_done(struct code_span *span);
