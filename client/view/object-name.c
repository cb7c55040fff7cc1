/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/object-name.h"

#include <stdio.h>
#include <string.h>

#include "client/view/place.h"
#include "common/profile/filter.h"
#include "common/util/macro.h"

static bool is_unique(const struct profile *profile, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->n_objects; i++)
		n += profile_object_matches(&profile->objects[i], name);
	return n == 1;
}

char *object_name_format(const struct profile *profile, uint32_t object)
{
	const struct profile_object *o = &profile->objects[object];
	char id[2 * PROFILE_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < o->n_build_id; i++)
		sprintf(id + 2 * i, "%02x", o->build_id[i]);
	if (is_unique(profile, place_object_name(o)))
		return strdup(place_object_name(o));
	return strdup(is_unique(profile, o->path) || !is_unique(profile, id) ? o->path : id);
}

bool object_name_is_packaged(const char *path)
{
	static const char *const folders[] = { "/usr/", "/bin/",   "/sbin/",
					       "/lib/", "/lib64/", "/lib32/" };

	if (strncmp(path, "/usr/local/", strlen("/usr/local/")) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}
