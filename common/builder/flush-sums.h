/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows with one key become one, before they are sorted: the branches and blocks of all processes
 * together, and the stacks of those that are united. Where many processes run one program, most
 * do. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/profile/tables.h"

#define FLUSH_SUMS_AHEAD 16u

/* A row of no process on its way into the table. */
struct summed_row {
	uint64_t hash; /* of its ends */
	union {
		struct profile_branch branch;
		struct profile_block block;
	};
};

/* Finds the rows of a table by their keys. New branches and blocks wait until what they need has
 * been prefetched. */
struct flush_sums {
	enum profile_table table; /* but PROFILE_STREAMS; all else is zeroed at first */
	uint32_t *slots; /* 1 << bits of them, at most half of them taken: a row + 1; 0: free */
	unsigned int bits;
	struct summed_row waiting[FLUSH_SUMS_AHEAD]; /* a ring */
	size_t n;                                    /* put into it so far */
};

void flush_sums_done(struct flush_sums *sums);

/* Add a row, of no process, to the table, all of whose rows come in this way. 0 or -ENOMEM. */
int flush_sums_add_branch(struct flush_sums *sums, struct profile *profile,
			  const struct profile_branch *branch);
int flush_sums_add_block(struct flush_sums *sums, struct profile *profile,
			 const struct profile_block *block);

/* The same for a stack, at once. The index of its row, or -ENOMEM. */
int64_t flush_sums_add_stack(struct flush_sums *sums, struct profile *profile,
			     const struct profile_stack *stack);

/* Adds those that wait. 0 or -ENOMEM. */
int flush_sums_end(struct flush_sums *sums, struct profile *profile);
