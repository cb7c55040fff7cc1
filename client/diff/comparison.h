/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A comparison: two sources, and all that tells what of the one is what of the other.
 */
#pragma once

#include "client/diff/address-map.h"
#include "client/diff/change-detector.h"
#include "client/diff/line-map.h"
#include "client/diff/object-match.h"
#include "client/source/profile-source.h"

/* What the user says of the two. Its strings are the caller's. */
struct comparison_settings {
	const char *before, *after; /* folders of the old and the new sources; both or NULL */
	const char *const *changed; /* names of changed functions */
	size_t n_changed;
};

struct comparison {
	const struct profile_source *sources[N_SIDES];
	struct object_match *pairing;
	uint32_t *numbers[N_SIDES]; /* of things, by the object of source.shown */
	struct line_map *map;       /* NULL where no sources were given */
	struct change_detector *changes;
	struct address_map *counterparts;
};

/* Borrows @sources and what @settings point to. 0, or -errno and @fault. */
int comparison_new(struct comparison **ret, const struct profile_source *const sources[N_SIDES],
		   const struct comparison_settings *settings, struct fault *fault);
struct comparison *comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(struct comparison *, comparison_free);

/*
 * (*@ret)[i] is the object of that side's whole that object i of part @part is, PROFILE_NONE where
 * it has none; for the caller to free. -ENOMEM.
 */
int comparison_map_part(const struct comparison *comparison, enum side side, size_t part,
			uint32_t **ret);
