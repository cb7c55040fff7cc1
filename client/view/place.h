/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A place: a location of a profile with its names, for a table or a script.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

/* The sources of names. */
struct places {
	const struct profile *profile; /* finalized */
	struct symbolizer *symbolizer; /* NULL: addresses of files are file offsets, no lines */
	bool lines;                    /* find source lines, too */
	bool numbered;                 /* functions have numbers, and no start that is known */
};

struct place {
	const struct profile_object *object;     /* NULL where there is none */
	const struct profile_function *function; /* NULL where there is none */
	uint64_t address; /* in the ELF file; without the file its offset, or the raw address */
	bool has_address; /* no offset */
	uint64_t offset;  /* in the object */
	const char *file; /* NULL where unknown or not wanted */
	uint32_t line;
};

struct place place_find(const struct places *places, struct location at);

/* True if the place's offset is a file offset. */
bool place_has_file_offset(const struct place *place);

/*
 * "symbol+0x12", "object+0x1234" with the last component of the path, "0x1234", or for address 0,
 * where no code is, "[unknown]". A heap string, or NULL.
 */
char *place_format(const struct place *place);

/*
 * "symbol+0x10..+0x2c", or with lines "symbol file.c:10..12", or of one line "symbol file.c:10".
 * The end has only what differs. A heap string, or NULL.
 */
char *place_format_block(const struct places *places, const struct profile_block *block);

/* The name of an object for a table: "libc.so.6", "[kernel]", "[unknown]" for NULL. Borrowed. */
const char *place_object_name(const struct profile_object *object);
