/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/view/builds.h"
#include "common/util/cleanup.h"

struct comparison *comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return NULL;
	address_map_free(comparison->addresses);
	change_detector_free(comparison->detector);
	line_map_free(comparison->map);
	object_match_free(comparison->objects);
	for (int side = 0; side < N_SIDES; side++)
		free(comparison->numbers[side]);
	free(comparison);
	return NULL;
}

static int match_objects(struct comparison *comparison)
{
	const struct profile *profiles[N_SIDES] = { comparison->sources[SIDE_OLD]->shown,
						    comparison->sources[SIDE_NEW]->shown };
	int r = object_match_new(&comparison->objects, profiles);

	for (int side = 0; r >= 0 && side < N_SIDES; side++)
		r = object_match_number(comparison->objects, side, profiles[side],
					&comparison->numbers[side]);
	return r;
}

static int find_changes(struct comparison *comparison, const struct comparison_settings *settings)
{
	struct change_detector_settings detection = {
		.objects = comparison->objects,
		.map = comparison->map,
		.named = settings->changed,
		.n_named = settings->n_changed,
	};
	int r;

	memcpy(detection.sources, comparison->sources, sizeof(detection.sources));
	r = change_detector_new(&comparison->detector, &detection);
	return r < 0 ? r :
		       address_map_new(&comparison->addresses, comparison->sources,
				       comparison->objects, comparison->detector, comparison->map);
}

int comparison_new(struct comparison **ret, const struct profile_source *const sources[N_SIDES],
		   const struct comparison_settings *settings, struct fault *fault)
{
	_cleanup_(comparison_freep) struct comparison *comparison = calloc(1, sizeof(*comparison));
	int r = 0;

	if (!comparison)
		return fault_set(fault, -ENOMEM, "out of memory");
	memcpy(comparison->sources, sources, sizeof(comparison->sources));
	if (settings->before)
		r = line_map_new(&comparison->map, settings->before, settings->after, fault);
	if (r < 0)
		return r;
	r = match_objects(comparison);
	if (r >= 0)
		r = find_changes(comparison, settings);
	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	*ret = TAKE_PTR(comparison);
	return 0;
}

/* A part has the objects of the whole in the same order, though not all, so the search continues at
 * @from. */
static uint32_t find_object(const struct profile *whole, const struct profile_object *object,
			    size_t from)
{
	for (size_t i = 0; i < whole->n_objects; i++) {
		size_t at = (from + i) % whole->n_objects;

		if (profile_same_object(&whole->objects[at], object))
			return (uint32_t)at;
	}
	return PROFILE_NONE;
}

int comparison_map_part(const struct comparison *comparison, enum side side, size_t part,
			uint32_t **ret)
{
	const struct profile_source *source = comparison->sources[side];
	const struct profile *profile = source->parts[part].shown;
	uint32_t *map = calloc(profile->n_objects + 1, sizeof(*map));
	size_t from = 0;

	if (!map)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_objects; i++) {
		map[i] = find_object(source->shown, &profile->objects[i], from);
		from = map[i] == PROFILE_NONE ? from : map[i] + 1;
	}
	*ret = map;
	return 0;
}

bool comparison_is_rebuilt(const struct comparison *comparison, uint32_t number)
{
	const struct profile *old = comparison->sources[SIDE_OLD]->shown;
	const struct profile *new = comparison->sources[SIDE_NEW]->shown;
	bool rebuilt = false;

	for (size_t i = 0; i < old->n_objects; i++) {
		if (comparison->numbers[SIDE_OLD][i] != comparison->numbers[SIDE_NEW][number])
			continue;
		if (build_is_same(&old->objects[i], &new->objects[number]))
			return false;
		rebuilt = true;
	}
	return rebuilt;
}
