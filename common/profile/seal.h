/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of sealing share; nobody else includes this. */
#pragma once

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/profile/profile.h"
#include "common/profile/radix.h"

struct seal {
	const struct profile *p;
	struct profile draft; /* the tables to be */

	uint32_t *process_map; /* old index to new */
	uint32_t *object_map;  /* likewise; PROFILE_NONE for those that nothing refers to */
	uint32_t *stack_map;

	struct radix_key *keys, *spare; /* of the table being sorted; room for all mentions */
	size_t n_places;		/* distinct ones: what stands in keys after seal_places() */
	uint32_t *rank;			/* of the place, for each mention of one */
};

/* Room for @n elements where *@p is; not NULL for none. */
#define ALLOCATE(p, n) ((*(p) = reallocarray(NULL, (n) ?: 1, sizeof(**(p)))) ? 0 : -ENOMEM)

static inline uint32_t map_process(const struct seal *s, uint32_t i)
{
	assert(i == PROFILE_NONE || i < s->p->n_processes);
	return i == PROFILE_NONE ? PROFILE_NONE : s->process_map[i];
}

static inline uint32_t map_object(const struct seal *s, uint32_t i)
{
	assert(i == PROFILE_NONE || i < s->p->n_objects);
	return i == PROFILE_NONE ? PROFILE_NONE : s->object_map[i];
}

/*
 * The tables of the draft, each 0 or -ENOMEM; the maps must be there. Places come first, then, as
 * it reads them, functions, then the others, which use the ranks.
 */
int seal_places(struct seal *s);
int seal_functions(struct seal *s);
int seal_stacks(struct seal *s);
int seal_branches(struct seal *s);
int seal_blocks(struct seal *s);

/* NULL comes before all others. */
int compare_strings(const char *a, const char *b);

#define COMPARE(a, b) ((a) == (b) ? 0 : (a) < (b) ? -1 : 1)
#define RETURN_UNLESS_EQUAL(comparison) \
	do {                            \
		int _c = (comparison);  \
		if (_c != 0)            \
			return _c;      \
	} while (0)
