/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counterparts: which place of the new program a place of the old one is.
 *
 * In a function that was not changed it is the one at the same offset. In one whose code was, that of the same
 * instruction; in one whose source was, that or else any of the same line. By line (@by_line) there is none either of
 * code that is the same, but of a line that was changed elsewhere in it.
 */
#pragma once

#include <stdbool.h>

#include "client/changes.h"

enum counterpart_kind {
	COUNTERPART_OFFSET, /* @at is an offset, in the new function where both have it */
	COUNTERPART_LINE,   /* @at is a line of the new @file */
	COUNTERPART_NONE, /* changed: nothing of the other side is the same; @at is its own offset */
};

/* A place; equal bytes mean that two places are the same. */
struct counterpart {
	const struct profile_function
		*function; /* the new one, the old where there is no new; or NULL */
	const char *file;
	uint64_t at;
	uint32_t thing;
	uint16_t kind;
	uint16_t side; /* of COUNTERPART_NONE; else 0 */
};

struct counterparts;

/* Borrows all. @map may be NULL. -ENOMEM. */
int counterparts_new(struct counterparts **ret, const struct source *const sources[N_SIDES],
		     const struct pairing *pairing, struct changes *changes, struct line_map *map);
struct counterparts *counterparts_free(struct counterparts *counterparts);
DEFINE_CLEANUP(struct counterparts *, counterparts_free);

/* Of a place of that side's whole profile. 0, -ENOMEM, or another negative errno and @fault. */
int counterparts_find(struct counterparts *counterparts, enum side side, struct location at,
		      bool by_line, struct counterpart *ret, struct fault *fault);

/* Both ends of a block. Where anything in between was changed they are COUNTERPART_NONE. */
int counterparts_find_block(struct counterparts *counterparts, enum side side,
			    const struct profile_block *block, bool by_line,
			    struct counterpart ret[2], struct fault *fault);
