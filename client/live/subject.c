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
	return copy(ret->object, profile->objects[at.object].path) &&
	       copy(ret->symbol, function ? function->name : "");
}

bool live_subject_is(const struct live_subject *subject, const struct profile_object *object,
		     const struct profile_function *function)
{
	if (strcmp(subject->object, object->path) != 0)
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
