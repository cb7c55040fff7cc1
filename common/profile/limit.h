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
 * Prunes the rarest rows of each user who has more stacks, streams, branches or blocks than
 * @handler says, so that this many are left.
 *
 * A stack or a stream is pruned with all below it, and its samples count for its parent, as pruned
 * ones. Samples of stacks pruned down to the root count at the address 0 of their process. Streams
 * pruned down to the root count as streams_limit, pruned branches as rows_limit, and pruned runs as
 * runs_limit.
 *
 * 1: then the profile is not finalized any more; 0: nothing was pruned; or -ENOMEM, with the
 * profile as it was or some of it pruned.
 */
int profile_limit(struct profile *profile, profile_limit_handler handler, void *userdata);
