/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/window/hot-functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/cleanup.h"
#include "common/util/compare.h"

#define MIN_PART 1000

struct heat {
	uint64_t samples;
	size_t function;
};

static int compare_heat(const void *p, const void *q)
{
	const struct heat *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(b->samples, a->samples));
	return COMPARE(a->function, b->function);
}

/* All functions, the hottest first. */
static struct heat *rank(const struct profile *p)
{
	struct heat *heats = calloc(p->n_functions + 1, sizeof(*heats));

	if (!heats)
		return NULL;
	for (size_t i = 0; i < p->n_functions; i++)
		heats[i].function = i;
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_function *f = NULL;

		if (p->stacks[i].samples > 0)
			f = profile_stack_function(p, i);
		if (f)
			heats[f - p->functions].samples += p->stacks[i].samples;
	}
	qsort(heats, p->n_functions, sizeof(*heats), compare_heat);
	return heats;
}

static bool is_worth_it(const struct profile *p, const struct profile_function *function)
{
	const struct profile_object *object;

	if (function->object == PROFILE_NONE || function->size == 0 ||
	    function->size > HOT_FUNCTIONS_MAX_BYTES)
		return false;
	object = &p->objects[function->object];
	return object->n_build_id > 0 &&
	       (object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO);
}

int hot_functions_find(const struct profile *profile, size_t ret[HOT_FUNCTIONS_MAX], size_t *ret_n)
{
	size_t n = MIN(profile->n_functions, (size_t)HOT_FUNCTIONS_MAX);
	_cleanup_free_ struct heat *heats = rank(profile);

	*ret_n = 0;
	if (!heats)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (heats[i].samples < profile->counters.samples / MIN_PART + 1)
			break;
		if (is_worth_it(profile, &profile->functions[heats[i].function]))
			ret[(*ret_n)++] = heats[i].function;
	}
	return 0;
}
