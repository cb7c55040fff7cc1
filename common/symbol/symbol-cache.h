/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols of one object that were looked up so far: ranges of offsets with their function, or
 * with none.
 *
 * Functions that are hot in one window are hot in the next. So this small cache saves the daemon
 * from reading the same large symbol tables for each window, or from keeping them in memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

struct symbol_cache_range {
	uint64_t first, last; /* both inclusive; all offsets between have the same function */
	uint64_t start, size; /* of the function */
	char *name;           /* NULL: in no function */
	uint64_t fingerprint; /* of the function; 0: none, or not taken */
	bool fingerprinted;   /* taken, or tried */
	uint64_t weight;      /* of its use in the profile that is symbolized; 0: none */
};

struct symbol_cache {
	struct symbol_cache_range *ranges; /* [0, n_finalized) by first, then the new ones */
	size_t n, cap, n_finalized;
	size_t name_bytes;
	size_t name_limit; /* of name_bytes: above it long names are truncated; 0: none */
};

#define SYMBOL_CACHE_SHORT 64 /* bytes of a name that is truncated */

void symbol_cache_done(struct symbol_cache *cache);

/* Copies @range and its name. symbol_cache_finalize() makes it visible. 0 or -ENOMEM. */
int symbol_cache_add(struct symbol_cache *cache, const struct symbol_cache_range *range);
void symbol_cache_finalize(struct symbol_cache *cache);

/* Range @i gets another name. 0 or -ENOMEM. */
int symbol_cache_rename(struct symbol_cache *cache, size_t i, const char *name);

/* The range with @offset, valid until others are added; NULL: none. */
const struct symbol_cache_range *symbol_cache_find(const struct symbol_cache *cache,
						   uint64_t offset);

/* The same: its number, or -ENOENT. */
int64_t symbol_cache_find_number(const struct symbol_cache *cache, uint64_t offset);

/* Whether the range of this number, if there is one, has @offset. */
static inline bool symbol_cache_has(const struct symbol_cache *cache, int64_t number,
				    uint64_t offset)
{
	return (size_t)number < cache->n_finalized && offset >= cache->ranges[number].first &&
	       offset <= cache->ranges[number].last;
}

/* Whether it is of a function without fingerprint that is used at least so much, which is not 0. */
static inline bool symbol_cache_lacks_fingerprint(const struct symbol_cache_range *range,
						  uint64_t least)
{
	return range->weight >= least && range->name && !range->fingerprinted;
}

/* Whether any range does. */
bool symbol_cache_lacks_fingerprints(const struct symbol_cache *cache, uint64_t least);

/* Nothing is used. */
void symbol_cache_unmark(struct symbol_cache *cache);

size_t symbol_cache_bytes(const struct symbol_cache *cache);
