/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Maps addresses of two versions of a program to each other.
 *
 * In an unchanged function an address maps to the same offset. In a function with changed code it
 * maps to the same instruction; in one with changed source to the same instruction or else to the
 * same line. By line (@by_line) an unchanged instruction of a changed line maps to nothing.
 */
#pragma once

#include <stdbool.h>

#include "client/diff/change-detector.h"

enum mapped_kind {
	MAPPED_OFFSET, /* @at is an offset; in the new function where both sides have it */
	MAPPED_LINE,   /* @at is a line of the new @file */
	MAPPED_NONE,   /* changed: the other side does not have it; @at is its own offset */
};

/* The same address of both sides has equal bytes. */
struct mapped_address {
	/* the new one; the old one where the new side has none; or NULL */
	const struct profile_function *function;
	const char *file;
	uint64_t at;
	uint32_t identity; /* of its object */
	uint16_t kind;
	uint16_t side; /* for MAPPED_NONE; else 0 */
};

struct address_map;

/* Borrows all. @lines may be NULL. -ENOMEM. */
int address_map_new(struct address_map **ret, const struct profile_source *const sources[N_SIDES],
		    const struct object_match *objects, struct change_detector *detector,
		    struct line_map *lines);
struct address_map *address_map_free(struct address_map *map);
DEFINE_CLEANUP(struct address_map *, address_map_free);

/* @at is a location of that side's whole profile. 0, -ENOMEM, or another negative errno and @fault.
 */
int address_map_find(struct address_map *map, enum side side, struct location at, bool by_line,
		     struct mapped_address *ret, struct fault *fault);

/* Both ends of a block. They are MAPPED_NONE if anything between them was changed. */
int address_map_find_block(struct address_map *map, enum side side,
			   const struct profile_block *block, bool by_line,
			   struct mapped_address ret[2], struct fault *fault);

/*
 * What @at of the old side is on the new one, by the code alone, whatever counts as changed: 1 and
 * *@ret, the new place of *@ret_own, which is @at, if both sides have its instruction, else the
 * nearest such place before; 0 where there is none; or -errno and @fault.
 */
int address_map_find_new(struct address_map *map, struct location at, struct location *ret,
			 struct location *ret_own, struct fault *fault);
