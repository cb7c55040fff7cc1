/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An address space: which object is mapped where. Mappings are ordered by address and do not
 * overlap: a new one replaces what it covers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"

/* A mapped object, shared by the spaces that map it. Immutable, except for a build-id reported
 * late. */
struct object {
	struct profile_object what; /* its strings belong to the object */
	const char *function;       /* the name of all of it, as of a BPF program; or NULL */
	unsigned int n_refs;
	uint32_t index; /* for the user that numbers objects; PROFILE_NONE otherwise */
	uint32_t table; /* the same for the one that numbers their unwind tables */
};

/* A copy of @what and @function, with one reference. NULL when memory ran out. */
struct object *object_new(const struct profile_object *what, const char *function);
struct object *object_ref(struct object *object);
struct object *object_unref(struct object *object);
DEFINE_CLEANUP(struct object *, object_unref);

struct mapping {
	uint64_t start, end; /* end is exclusive; UINT64_MAX reaches to the last address */
	uint64_t shift;      /* offset in the object = address + shift, modulo 2^64 */
	struct object *object;
};

struct address_space {
	struct mapping *mappings;
	size_t n_mappings, cap_mappings;
	size_t n_bytes; /* what it has in memory, counted as if it shared no object */
	size_t next_dropped;
	unsigned int n_refs;
};

struct address_space *address_space_new(void);
struct address_space *address_space_copy(const struct address_space *space);
struct address_space *address_space_ref(struct address_space *space);
struct address_space *address_space_unref(struct address_space *space);
DEFINE_CLEANUP(struct address_space *, address_space_unref);

/* The mapping at @address, or NULL; valid until the space changes. */
const struct mapping *address_space_find(const struct address_space *space, uint64_t address);

/* Whether @mapping covers any mapping other than an equal one. */
bool address_space_overlaps(const struct address_space *space, const struct mapping *mapping);

/* Adds @mapping in place of what it covers; takes a reference of its object. 0 or -ENOMEM. */
int address_space_map(struct address_space *space, const struct mapping *mapping);
/* Removes the mappings in [start, end). 0 or -ENOMEM. */
int address_space_unmap(struct address_space *space, uint64_t start, uint64_t end);

/*
 * Makes a space smaller that takes more than @max_bytes: drops mappings, not that at @keep,
 * wherever they are, as their age is not known. A few each time, so that no call takes long.
 */
void address_space_trim(struct address_space *space, size_t max_bytes, uint64_t keep);

/* The bytes of all spaces. */
size_t address_space_total(void);
