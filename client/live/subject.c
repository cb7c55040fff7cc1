/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/subject.h"

#include <string.h>

static bool copy(char ret[LIVE_NAME_MAX], const char *name)
{
	size_t n = strlen(name);

	if (n >= LIVE_NAME_MAX)
		return false;
	memcpy(ret, name, n + 1);
	return true;
}

bool live_subject_set(struct live_subject *ret, const struct profile *profile, struct location at)
{
	const struct profile_function *function;

	memset(ret, 0, sizeof(*ret)); /* they are compared as bytes */
	if (at.object == PROFILE_NONE)
		return false;
	function = profile_find_function(profile, at);
	ret->start = function ? function->start : 0;
	ret->n_build_id = profile->objects[at.object].n_build_id;
	memcpy(ret->build_id, profile->objects[at.object].build_id, ret->n_build_id);
	return copy(ret->object, profile->objects[at.object].path) &&
	       copy(ret->symbol, function ? function->name : "");
}

/* Of one path, too, there may be several builds. */
static bool is_of_build(const struct live_subject *subject, const struct profile_object *object)
{
	return subject->n_build_id == 0 || object->n_build_id == 0 ||
	       (subject->n_build_id == object->n_build_id &&
		memcmp(subject->build_id, object->build_id, object->n_build_id) == 0);
}

bool live_subject_is(const struct live_subject *subject, const struct profile_object *object,
		     const struct profile_function *function)
{
	if (strcmp(subject->object, object->path) != 0 || !is_of_build(subject, object))
		return false;
	if (!function)
		return subject->symbol[0] == '\0';
	return subject->start == function->start && strcmp(subject->symbol, function->name) == 0;
}

const struct profile_function *live_subject_find(const struct live_subject *subject,
						 const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (function->object != PROFILE_NONE &&
		    live_subject_is(subject, &profile->objects[function->object], function))
			return function;
	}
	return NULL;
}
