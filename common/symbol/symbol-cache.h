/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What has been found out about one object: stretches of offsets, and the function that each lies
 * in, or that it lies in none.
 *
 * What is hot in one window is hot in the next. So this little, kept, saves a daemon from reading
 * the same big symbol tables over and over, or from keeping them in memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

struct symbol_cache_range {
	uint64_t first, last; /* both inclusive: any offset between has the same answer */
	uint64_t start, size; /* of the function */
	char *name;           /* NULL: in no function */
	uint64_t fingerprint; /* of the function; 0 where there is none, or it was not */
	bool fingerprinted;
	bool marked;
};

struct symbol_cache {
	struct symbol_cache_range
		*stretches; /* by first, but for what was added since it was sealed */
	size_t n, cap, n_sealed;
	size_t name_bytes;
};

void symbol_cache_done(struct symbol_cache *known);

/* Copies @stretch, its name too. 0 or -ENOMEM. It is found from the next symbol_cache_finalize()
 * on. */
int symbol_cache_add(struct symbol_cache *known, const struct symbol_cache_range *stretch);
void symbol_cache_finalize(struct symbol_cache *known);

/* Marks the stretch that holds @offset: 1 where it is in a function, 0 in none, -ENOENT not known.
 */
int symbol_cache_mark(struct symbol_cache *known, uint64_t offset);
void symbol_cache_unmark(struct symbol_cache *known);

size_t symbol_cache_bytes(const struct symbol_cache *known);
