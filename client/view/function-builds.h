/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A function of several builds of its file: which of them is newest, and how to ask for another.
 */
#pragma once

#include <stddef.h>

#include "client/source/profile-source.h"
#include "client/view/builds.h"

#define FUNCTION_BUILDS_MAX 16

/* The function in each build of the file, the newest first; those of one age by their samples. */
struct function_builds {
	const struct profile_source *source;
	const struct profile_function *functions[FUNCTION_BUILDS_MAX];
	uint64_t samples[FUNCTION_BUILDS_MAX];
	size_t n;
	bool is_known; /* the first one is newer than all others */
};

/*
 * The builds of @function, of the whole profile of @source, which @settings opened. Only those that
 * have one function with its name. 0 or -ENOMEM.
 */
int function_builds_find(struct function_builds *ret, const struct profile_source *source,
			 const struct profile_source_settings *settings,
			 const struct profile_function *function);

/* Says which of them @shown is, in a line; nothing if there is only one. */
void function_builds_say(const struct function_builds *builds, const struct profile_function *shown,
			 FILE *f);
