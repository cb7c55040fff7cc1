/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A place in words: what a location of a profile is called, for a table or for a script.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

/* Whom to ask. */
struct places {
	const struct profile *profile; /* sealed */
	struct symbolizer *symbolizer; /* NULL: addresses of files are file offsets, no lines */
	bool lines;                    /* read source lines, too */
};

struct place {
	const struct profile_object *object;     /* NULL where there is none */
	const struct profile_function *function; /* NULL where there is none */
	uint64_t address; /* of the ELF file where it is at hand, else the file offset, or the raw
			     one */
	uint64_t offset;  /* in the object */
	const char *file; /* NULL where unknown or not asked for */
	uint32_t line;
};

struct place place_find(const struct places *places, struct location at);

/* Has the place's offset the meaning of a file offset? */
bool place_has_file_offset(const struct place *place);

/*
 * "symbol+0x12", "object+0x1234" with the last component of the path, "0x1234". A heap string, or
 * NULL when memory ran out.
 */
char *place_format(const struct place *place);

/*
 * "symbol+0x10..+0x2c", or where lines are wanted and known "file.c:10..12"; both in full where
 * start and end are not of one name. A heap string, or NULL.
 */
char *place_format_block(const struct places *places, const struct profile_block *block);

/* The name of an object for a table: "libc.so.6", "[kernel]", "[unknown]" for NULL. Borrowed. */
const char *place_object_name(const struct profile_object *object);
