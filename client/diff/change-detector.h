/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detects the functions that were changed between two profiles, and by what evidence.
 */
#pragma once

#include "client/diff/line-map.h"
#include "client/diff/object-match.h"
#include "client/source/profile-source.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

enum change {
	CHANGE_NONE,
	CHANGE_NAMED,  /* the user said so */
	CHANGE_SOURCE, /* a line of it was changed */
	CHANGE_CODE,   /* its fingerprint differs; without fingerprints, its size */
};

struct change_detector;

struct change_detector_settings {
	const struct profile_source *sources[N_SIDES];
	const struct object_match *objects;
	struct line_map *map; /* or NULL */
	/* functions that the user says were changed: see profile_symbol_matches() */
	const char *const *named;
	size_t n_named;
};

/* All of @settings is borrowed. -ENOMEM. */
int change_detector_new(struct change_detector **ret,
			const struct change_detector_settings *settings);
struct change_detector *change_detector_free(struct change_detector *detector);
DEFINE_CLEANUP(struct change_detector *, change_detector_free);

/*
 * The enum change of the functions called @name, on either side and with or without a compiler
 * suffix, in the object identity @number. CHANGE_CODE if any of several functions of one name was
 * changed. -errno and @fault where the sources cannot be compared.
 */
int change_detector_find(struct change_detector *detector, uint32_t number, const char *name,
			 struct fault *fault);

/* A function of one side, distinguished from others of its name: see function-match.h. */
struct change_detector_function {
	enum change change; /* CHANGE_CODE: of this very function */
	const struct profile_function *own, *other;
};

/*
 * The same for @function, a function of the profile of side @side. The pointers in *@ret are
 * borrowed. 0, or -errno and @fault.
 */
int change_detector_find_function(struct change_detector *detector, enum side side, uint32_t number,
				  const struct profile_function *function,
				  struct change_detector_function *ret, struct fault *fault);

/* Whether either side has a function that @named may mean. */
bool change_detector_has_function(const struct change_detector *detector, const char *named);

/* "code", "source", "named"; NULL for CHANGE_NONE. */
const char *change_name(enum change change);
