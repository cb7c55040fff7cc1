/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of an object become equal in all but their indices; finalizing does the rest. */
#include "common/profile/unite.h"

#include "common/profile/finalize-internal.h"
#include "common/util/cleanup.h"

/* Whether @object was changed. */
static bool become(struct profile_object *object, const struct profile_object *first)
{
	struct profile_object before = *object;

	*object = *first;
	return finalize_compare_objects(&before, object) != 0;
}

int profile_unite(struct profile *profile)
{
	_cleanup_free_ uint32_t *order = NULL;
	const struct profile_object *first = NULL;
	bool changed = false;

	if (ARRAY_ALLOCATE(&order, profile->n_objects) < 0)
		return -ENOMEM;
	finalize_order_objects(order, profile);
	for (size_t i = 0; i < profile->n_objects; i++) {
		struct profile_object *object = &profile->objects[order[i]];

		if (first && profile_same_object(first, object))
			changed |= become(object, first);
		else
			first = object;
	}
	if (!changed || !profile->finalized)
		return 0;
	profile->finalized = false;
	return profile_finalize(profile);
}
