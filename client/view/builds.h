/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builds: several files that had one path, one after the other, as before and after an upgrade.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/source/profile-source.h"
#include "common/object/build-id.h"
#include "common/profile/profile.h"

#define BUILD_SHORT_ID 8 /* digits of a build-id that tell builds apart */

/* Whether two objects have one build-id; or none, both of them. */
bool build_is_same(const struct profile_object *a, const struct profile_object *b);

/* Whether two objects have one path, and different build-ids, of which one may be unknown. */
bool builds_differ(const struct profile_object *a, const struct profile_object *b);

/* Whether @profile has other builds of the file of @object. */
bool builds_are_several(const struct profile *profile, uint32_t object);

/* When an object was seen; all zeroes where that is not known. */
struct build_age {
	size_t first, last;  /* the part of the windows' time, from 1 on */
	uint64_t started_ns; /* of the newest process that ran it; 0 also: of several boots */
};

/*
 * *@ret has the age of each object of the whole profile of @source, which @settings opened; the
 * daemon is asked for counts in parts of the time. The caller frees it. 0 or -ENOMEM.
 */
int builds_find_ages(struct build_age **ret, const struct profile_source *source,
		     const struct profile_source_settings *settings);

/* Positive if @a is newer than @b, negative if it is older, 0 if that is not known. */
int builds_compare_ages(const struct build_age *a, const struct build_age *b);

/* The first digits of the build-id. */
const char *build_format(char hex[static BUILD_ID_HEX_SIZE], const struct profile_object *object);
