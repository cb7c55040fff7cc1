/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/view.h"

#include <errno.h>
#include <string.h>

#include "common/util/compare.h"

static const char *const names[N_VIEWS] = {
	[VIEW_FUNCTION] = "function",
	[VIEW_STACK] = "stack",
	[VIEW_STREAM] = "stream",
	[VIEW_BRANCH] = "branch",
	[VIEW_BRANCH_SITE] = "branch-site",
	[VIEW_BLOCK] = "block",
	[VIEW_LINE] = "line",
	[VIEW_OBJECT] = "object",
	[VIEW_PROCESS] = "process",
	[VIEW_UNIT] = "unit",
	[VIEW_COMM] = "comm",
	[VIEW_CONTAINER] = "container",
	[VIEW_USER] = "user",
	[VIEW_HOST] = "host",
};

const char *view_name(enum view_by by)
{
	return names[by];
}

int view_parse(enum view_by *ret, const char *name)
{
	for (int by = 0; by < N_VIEWS; by++)
		if (strcmp(names[by], name) == 0) {
			*ret = (enum view_by)by;
			return 0;
		}
	return -EINVAL;
}

int view_compare_locations(struct location a, struct location b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a.object, b.object));
	return COMPARE(a.offset, b.offset);
}

bool view_is_kernel(const struct profile *profile, struct location at)
{
	enum object_kind kind;

	if (at.object == PROFILE_NONE)
		return at.offset >> 63;
	kind = profile->objects[at.object].kind;
	return kind == OBJECT_KERNEL || kind == OBJECT_MODULE;
}

struct location view_function_start(const struct profile *profile, struct location at)
{
	const struct profile_function *function = profile_find_function(profile, at);

	return function ? (struct location){ at.object, function->start } : at;
}
