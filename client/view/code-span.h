/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the code that the user names: a function by its name, or an address in an object.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "client/source/profile-source.h"
#include "client/view/function-builds.h"
#include "common/profile/ranges.h"
#include "common/util/fault.h"

struct code_span {
	uint32_t object;
	uint64_t start, size; /* offset in the object, bytes */
	const char *name;     /* of the function, borrowed from the profile; NULL: not a function */

	struct profile_range *ranges; /* those that overlap it */
	size_t n_ranges;
	struct profile_range *all_ranges; /* of the object */

	struct function_builds builds; /* of the function that was asked for; n is 0 for others */
};

/*
 * Finds the span @wanted in the filtered profile of @source. @wanted is a function's name in
 * @object (NULL: in any), see profile_symbol_matches(); or "OBJECT:0xADDRESS" with an address of
 * the ELF file, see profile_object_matches(). An address outside of functions stands for the code
 * around it that ran without a gap; without branch records, for the function without a name that
 * call frame information tells of. Of several builds of one file it is the newest. -errno and
 * @fault; also where @wanted is ambiguous. @settings are those that opened @source.
 */
int code_span_find(struct code_span *ret, const struct profile_source *source,
		   const struct profile_source_settings *settings, const char *wanted,
		   const char *object, struct fault *fault);

/* Says which build is shown, and how to ask for another, in a line; nothing if there is only one.
 */
void code_span_say_builds(const struct code_span *span, FILE *f);

/* Names the clones of the span's function that were counted, too, in a line; nothing if none were.
 */
void code_span_say_clones(const struct code_span *span, const struct profile_source *source,
			  FILE *f);

/* The function of @at, which is of the shown profile of @source. -ENOENT if there is none, or
 * -ENOMEM. */
int code_span_of_function(struct code_span *ret, const struct profile_source *source,
			  struct location at);
void code_span_done(struct code_span *span);
