/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What has been found out about one object: stretches of offsets, and the function that each lies in,
 * or that it lies in none.
 *
 * What is hot in one window is hot in the next. So this little, kept, saves a daemon from reading
 * the same big symbol tables over and over, or from keeping them in memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

struct known_stretch {
	uint64_t first, last; /* both inclusive: any offset between has the same answer */
	uint64_t start, size; /* of the function */
	char *name;           /* NULL: in no function */
	uint64_t fingerprint; /* of the function; 0 where there is none, or it was not */
	bool fingerprinted;
	bool marked;
};

struct known {
	struct known_stretch *stretches; /* by first, but for what was added since it was sealed */
	size_t n, cap, n_sealed;
	size_t name_bytes;
};

void known_done(struct known *known);

/* Copies @stretch, its name too. 0 or -ENOMEM. It is found from the next known_seal() on. */
int known_add(struct known *known, const struct known_stretch *stretch);
void known_seal(struct known *known);

/* Marks the stretch that holds @offset: 1 where it is in a function, 0 in none, -ENOENT not known. */
int known_mark(struct known *known, uint64_t offset);
void known_unmark(struct known *known);

size_t known_bytes(const struct known *known);
