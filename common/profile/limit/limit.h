/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limiting what each user takes of a profile: the rarest of his rows are pruned, and what they
 * counted stays in the sums.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"

/* The most rows that a user's processes may have of each long table: UINT64_MAX for any number.
 * UINT32_MAX is the user of processes whose user is unknown, and of rows without a process. */
typedef uint64_t (*profile_limit_handler)(uint32_t uid, void *userdata);

/*
 * Prunes the rarest rows of each user who has more stacks, streams, branches or blocks in the
 * finalized @profile than @handler says, so that this many are left.
 *
 * A stack is pruned with all below it. Its samples lose callers, and their address becomes the most
 * frequent one of those pruned in the function; what is too rare for that counts at the address 0
 * of its process. A stream is pruned with all below it, too, and its hits count for its parent.
 * Both are counted as pruned. Streams pruned down to the root, branches and runs count in the row
 * "other" of their process and object, see other.h. Such rows are among those that are left, but
 * half of all at most: what the rarest had counts as streams_limit, rows_limit or
 * runs_limit.
 *
 * 1: then the profile is not finalized any more; 0: nothing was pruned; or -ENOMEM, with the
 * profile as it was or some of it pruned.
 */
int profile_limit(struct profile *profile, profile_limit_handler handler, void *userdata);

/* The same of the chosen tables alone, a set of tables.h. */
int profile_limit_tables(struct profile *profile, unsigned int tables,
			 profile_limit_handler handler, void *userdata);

/*
 * Prunes the rarest rows of the finalized @profile so that at most @max are left in the tables
 * together, or few more: users with few rows keep them, the others get equal parts. As
 * profile_limit().
 */
int profile_limit_all(struct profile *profile, unsigned int tables, uint64_t max);
