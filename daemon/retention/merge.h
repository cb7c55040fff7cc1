/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Neighbouring windows that become one, and their sum: what takes long of merging. It only reads,
 * by any connection.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/retention/gone.h"
#include "daemon/rows/read.h"
#include "daemon/window/window.h"

#define STORE_MAX_MERGED 16

/*
 * The rows that a sum keeps: of stacks; and of stacks, streams, branches and blocks together where
 * there are branch records. Hours of 90 days, and what leads to them, are 4,600 sums; a row takes
 * some 25 bytes.
 */
#define STORE_SUM_ROWS     2000
#define STORE_SUM_ALL_ROWS 2200

/* The rows of streams, branches and blocks together that a new window keeps: some 0.3 MiB, with
 * their counts by function. 360 windows are kept as they are. */
#define STORE_WINDOW_ROWS 12000

struct store_merge {
	size_t tier;                             /* that the windows are in */
	struct window windows[STORE_MAX_MERGED]; /* their ids; the rest once there is a sum */
	size_t n;
	uint64_t n_rows;     /* of all of them */
	struct profile *sum; /* pruned and finalized; NULL: not yet */
};

void store_merge_done(struct store_merge *merge);

/* Makes the sum, in a transaction of the caller. 0 or -errno; -ENOENT: a window is not there. */
int store_merge_make(struct store_merge *merge, struct store_read *read, struct store_gone *gone);
