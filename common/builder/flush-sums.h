/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The branches and blocks of all processes together: those with the same ends become one row,
 * before they are sorted. Where many processes run one program, most of them do. */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

/* Finds the rows of a table by their ends. Zeroed it is empty. */
struct flush_sums {
	uint32_t *slots; /* 1 << bits of them, at most half of them taken: a row + 1; 0: free */
	unsigned int bits;
};

void flush_sums_done(struct flush_sums *sums);

/* Add a row, of no process, to the table, all of whose rows came in this way. 0 or -ENOMEM. */
int flush_sums_add_branch(struct flush_sums *sums, struct profile *profile,
			  const struct profile_branch *branch);
int flush_sums_add_block(struct flush_sums *sums, struct profile *profile,
			 const struct profile_block *block);
