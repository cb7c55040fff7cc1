/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes: which functions are others in the new of two profiles than in the old, and how that is
 * known.
 */
#pragma once

#include "client/diff/line-map.h"
#include "client/diff/object-match.h"
#include "client/source/profile-source.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

enum change {
	CHANGE_NONE,
	CHANGE_NAMED,  /* somebody said so */
	CHANGE_SOURCE, /* a line of it is another */
	CHANGE_CODE, /* its fingerprint is another, or where there is none its size; of several of a
		      * name any */
};

struct change_detector;

struct change_detector_settings {
	const struct profile_source *sources[N_SIDES];
	const struct object_match *pairing;
	struct line_map *map; /* or NULL */
	const char *const
		*named; /* functions that are taken for changed: profile_symbol_matches() */
	size_t n_named;
};

/* All of @settings is borrowed. -ENOMEM. */
int change_detector_new(struct change_detector **ret,
			const struct change_detector_settings *settings);
struct change_detector *change_detector_free(struct change_detector *changes);
DEFINE_CLEANUP(struct change_detector *, change_detector_free);

/*
 * What is known of functions, by the number of their thing and their name on either side (clones
 * are as what they are clones of); or -errno and @fault where sources could not be compared.
 */
int change_detector_find(struct change_detector *changes, uint32_t number, const char *name,
			 struct fault *fault);

/* A function of one side, as namesakes.h tells it from others of its name. */
struct change_detector_function {
	enum change change; /* of the code: of this very function */
	const struct profile_function *own, *other;
};

/*
 * The same of @function, which is one of side @side of what is compared; what is in *@ret is
 * borrowed. 0, or -errno and @fault.
 */
int change_detector_find_function(struct change_detector *changes, enum side side, uint32_t number,
				  const struct profile_function *function,
				  struct change_detector_function *ret, struct fault *fault);

/* Whether there is any function on either side that may be named so. */
bool change_detector_knows(const struct change_detector *changes, const char *named);

/* "code", "source", "named"; NULL of none. */
const char *change_name(enum change change);
