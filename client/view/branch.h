/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views by branch and by block: the profile's own tables, summed over all processes.
 */
#pragma once

#include <stddef.h>

#include "common/profile/profile.h"

/*
 * *@ret is a heap array of *@ret_n rows, hottest first; their process is PROFILE_NONE. Branches by
 * how often they were taken; blocks by their cycles where the profile has any, else by runs.
 * 0 or -ENOMEM.
 */
int view_branches(struct profile_branch **ret, size_t *ret_n, const struct profile *profile);
int view_blocks(struct profile_block **ret, size_t *ret_n, const struct profile *profile);

/* The cycles of all blocks of @profile. */
uint64_t view_block_cycles(const struct profile *profile);
