/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A comparison: two sources, and how their objects, functions and addresses match.
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
	struct object_match *objects;
	uint32_t *numbers[N_SIDES]; /* of identities, by the object of source.shown */
	struct line_map *map;       /* NULL without sources */
	struct change_detector *detector;
	struct address_map *addresses;
};

/* Borrows @sources and what @settings point to. 0, or -errno and @fault. */
int comparison_new(struct comparison **ret, const struct profile_source *const sources[N_SIDES],
		   const struct comparison_settings *settings, struct fault *fault);
struct comparison *comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(struct comparison *, comparison_free);

/*
 * (*@ret)[i] is the number of object i of part @part in that side's whole profile, or PROFILE_NONE.
 * The caller frees *@ret. -ENOMEM.
 */
int comparison_map_part(const struct comparison *comparison, enum side side, size_t part,
			uint32_t **ret);

/* Whether the old side has another build of object @number of the new side, and not that one. */
bool comparison_is_rebuilt(const struct comparison *comparison, uint32_t number);
