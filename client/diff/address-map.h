/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counterparts: which place of the new program a place of the old one is.
 *
 * In a function that was not changed it is the one at the same offset. In one whose code was, that
 * of the same instruction; in one whose source was, that or else any of the same line. By line
 * (@by_line) there is none either of code that is the same, but of a line that was changed
 * elsewhere in it.
 */
#pragma once

#include <stdbool.h>

#include "client/diff/change-detector.h"

enum mapped_kind {
	MAPPED_OFFSET, /* @at is an offset, in the new function where both have it */
	MAPPED_LINE,   /* @at is a line of the new @file */
	MAPPED_NONE,   /* changed: nothing of the other side is the same; @at is its own offset */
};

/* A place; equal bytes mean that two places are the same. */
struct mapped_address {
	const struct profile_function
		*function; /* the new one, the old where there is no new; or NULL */
	const char *file;
	uint64_t at;
	uint32_t thing;
	uint16_t kind;
	uint16_t side; /* of MAPPED_NONE; else 0 */
};

struct address_map;

/* Borrows all. @map may be NULL. -ENOMEM. */
int address_map_new(struct address_map **ret, const struct profile_source *const sources[N_SIDES],
		    const struct object_match *pairing, struct change_detector *changes,
		    struct line_map *map);
struct address_map *address_map_free(struct address_map *counterparts);
DEFINE_CLEANUP(struct address_map *, address_map_free);

/* Of a place of that side's whole profile. 0, -ENOMEM, or another negative errno and @fault. */
int address_map_find(struct address_map *counterparts, enum side side, struct location at,
		     bool by_line, struct mapped_address *ret, struct fault *fault);

/* Both ends of a block. Where anything in between was changed they are MAPPED_NONE. */
int address_map_find_block(struct address_map *counterparts, enum side side,
			   const struct profile_block *block, bool by_line,
			   struct mapped_address ret[2], struct fault *fault);
