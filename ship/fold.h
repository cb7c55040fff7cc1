/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is left of a profile's long tables to be sent: processes of one unit and one name are one,
 * and rare rows are pruned. The samples of pruned stacks and the hits of pruned streams count for
 * their callers and parents, as limit.h has it; pruned branches and blocks in one row "other" for
 * each process (other.h), of no object. So all sums stay, but for the hits that the counter
 * streams_limit has.
 */
#pragma once

#include "common/profile/profile.h"

/* Rows of a table. A stream has some ten times as much to send as a branch. */
#define FOLD_MAX_ROWS    500
#define FOLD_MAX_STREAMS 100

/* Both change the finalized @profile in place and finalize it again. -ENOMEM. */
int fold_processes(struct profile *profile);
/* Processes, then rows. */
int fold_profile(struct profile *profile);
