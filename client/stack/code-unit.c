/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/stack/code-unit.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

#define PART 20

int code_units_init(struct code_units *units, const struct profile *profile,
		    struct symbolizer *symbolizer)
{
	_cleanup_free_ uint64_t *samples = NULL;

	*units = (struct code_units){ .profile = profile, .symbolizer = symbolizer };
	if (ARRAY_ALLOCATE_ZEROED(&samples, profile->n_objects + 1) < 0 ||
	    ARRAY_ALLOCATE_ZEROED(&units->has_ranges, profile->n_objects + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		if (stack->frame.object != PROFILE_NONE && stack->samples > 0 &&
		    !profile_find_function(profile, stack->frame))
			samples[stack->frame.object] += stack->samples;
	}
	for (size_t i = 0; i < profile->n_objects; i++)
		units->has_ranges[i] = symbolizer && samples[i] > 0 &&
				       samples[i] >= profile->counters.samples / PART;
	return 0;
}

void code_units_done(struct code_units *units)
{
	free(units->has_ranges);
}

struct location code_unit_find(const struct code_units *units, struct location at)
{
	const struct profile *profile = units->profile;
	const struct profile_function *function = profile_find_function(profile, at);
	struct symbolizer_function range;

	if (function)
		return (struct location){ at.object, function->start };
	if (at.object == PROFILE_NONE)
		return at;
	if (units->has_ranges[at.object] &&
	    symbolizer_function(units->symbolizer, &profile->objects[at.object], at.offset,
				&range) > 0)
		return (struct location){ at.object, range.start };
	return (struct location){ at.object, UINT64_MAX };
}

bool code_unit_is_object(struct location unit)
{
	return unit.object != PROFILE_NONE && unit.offset == UINT64_MAX;
}
