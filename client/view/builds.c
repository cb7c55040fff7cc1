/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The newer one of two builds is seen last. If both are seen last, it is the one that came later;
 * else the one that the newest process runs, unless the machine was started again in between, since
 * processes count their start from there.
 */
#include "client/view/builds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/macro.h"

#define N_PARTS        24       /* as many as the daemon makes */
#define MAX_CLOCK_DIFF 30000000 /* us: of corrections of the wall clock */

bool build_is_same(const struct profile_object *a, const struct profile_object *b)
{
	return a->n_build_id == b->n_build_id &&
	       memcmp(a->build_id, b->build_id, a->n_build_id) == 0;
}

bool builds_differ(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == OBJECT_FILE && b->kind == OBJECT_FILE && !build_is_same(a, b) &&
	       strcmp(a->path, b->path) == 0;
}

bool builds_are_several(const struct profile *profile, uint32_t object)
{
	for (size_t i = 0; i < profile->n_objects; i++)
		if (builds_differ(&profile->objects[i], &profile->objects[object]))
			return true;
	return false;
}

/* The clock of the profile's times goes on while the machine runs, and with it all windows. */
static bool is_one_boot(const struct profile_source *source)
{
	const struct profile_info *info = &source->all->info;
	const struct windows *windows = &source->windows;
	uint64_t by_wall_us, by_boot_us = (info->end_ns - info->start_ns) / 1000;

	if (windows->n < 2)
		return true;
	by_wall_us = windows_end_us(&windows->rows[windows->n - 1]) - windows->rows[0].start_us;
	return MAX(by_wall_us, by_boot_us) - MIN(by_wall_us, by_boot_us) <= MAX_CLOCK_DIFF;
}

static void find_starts(struct build_age *ages, const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		struct build_age *age;

		if (stack->frame.object == PROFILE_NONE || stack->process == PROFILE_NONE)
			continue;
		age = &ages[stack->frame.object];
		age->started_ns = MAX(age->started_ns, profile->processes[stack->process].start_ns);
	}
}

/* The number in @profile of an object of another profile; PROFILE_NONE: it has none. */
static uint32_t find_object(const struct profile *profile, const struct profile_object *object)
{
	for (uint32_t i = 0; i < profile->n_objects; i++)
		if (profile_same_object(&profile->objects[i], object))
			return i;
	return PROFILE_NONE;
}

static void add_part(struct build_age *ages, const uint32_t *numbers,
		     const struct functions *functions, size_t part)
{
	for (size_t i = 0; i < functions->parts[part].n_rows; i++) {
		const struct functions_row *row = &functions->parts[part].rows[i];
		uint32_t object = functions->places[row->place].object;
		struct build_age *age;

		if (object == PROFILE_NONE || numbers[object] == PROFILE_NONE || row->total == 0)
			continue;
		age = &ages[numbers[object]];
		age->first = age->first ?: part + 1;
		age->last = part + 1;
	}
}

static int find_parts(struct build_age *ages, const struct profile *profile,
		      const struct functions *functions)
{
	const struct profile *counted = functions->profile;
	_cleanup_free_ uint32_t *numbers = calloc(counted->n_objects + 1, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < counted->n_objects; i++)
		numbers[i] = find_object(profile, &counted->objects[i]);
	for (size_t i = 0; i < functions->n_parts; i++)
		add_part(ages, numbers, functions, i);
	return 0;
}

int builds_find_ages(struct build_age **ret, const struct profile_source *source,
		     const struct profile_source_settings *settings)
{
	_cleanup_(profile_source_freep) struct profile_source *parts = NULL;
	_cleanup_free_ struct build_age *ages = calloc(source->all->n_objects + 1, sizeof(*ages));
	struct profile_source_settings of_parts = *settings;
	struct fault ignored;
	int r = 0;

	if (!ages)
		return -ENOMEM;
	if (is_one_boot(source))
		find_starts(ages, source->all);
	of_parts.counts = true;
	of_parts.by = FUNCTIONS_BY_OBJECT;
	of_parts.n_parts = N_PARTS;
	of_parts.filter.object = of_parts.filter.symbol = NULL;
	if (source->windows.n > 1)
		r = profile_source_open(&parts, &of_parts, &ignored);
	if (r >= 0 && parts && parts->functions)
		r = find_parts(ages, source->all, parts->functions);
	if (r == -ENOMEM)
		return r;
	*ret = TAKE_PTR(ages);
	return 0;
}

int builds_compare_ages(const struct build_age *a, const struct build_age *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->last, b->last));
	RETURN_UNLESS_EQUAL(COMPARE(a->first, b->first));
	return COMPARE(a->started_ns, b->started_ns);
}

const char *build_format(char hex[static BUILD_ID_HEX_SIZE], const struct profile_object *object)
{
	build_id_format(hex, object->build_id, object->n_build_id);
	hex[BUILD_SHORT_ID] = '\0';
	return hex;
}
