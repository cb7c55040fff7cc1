/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pruning windows that are in the store: who takes more than a fair share of it loses the rarest
 * rows of their own, the oldest windows first. What these counted stays in the sums of the window,
 * and the rows of all others stay as they are.
 */
#pragma once

#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/retention/reclaim.h"
#include "daemon/retention/share.h"
#include "daemon/rows/read.h"
#include "daemon/rows/write.h"

#define N_STORE_REDUCE 11

/* What windows are pruned with; borrowed. */
struct store_reduce_modules {
	struct store_first_ids *first_ids;
	struct store_share *share;
	struct store_read *read;
	struct store_write *write;
};

struct store_reduce {
	struct database *database;
	struct store_reduce_modules modules;
	struct statement *statements[N_STORE_REDUCE];
	struct store_reclaim_range pruned; /* what these windows had is to be reclaimed */
	uint64_t n_pruned;                 /* windows */
};

/* Each in a transaction of the caller. 0 or -errno. */
int store_reduce_init(struct store_reduce *reduce, struct database *database,
		      const struct store_reduce_modules *modules);

/*
 * Prunes one window before @newest to @floor rows of each table. 1, with the number of rows that
 * were read added to *@n_rows; 0: nobody is over the share and has more; or -errno.
 */
int store_reduce_next(struct store_reduce *reduce, uint64_t floor, int64_t newest,
		      uint64_t *n_rows);

/* Removes all counts of a window. */
int store_reduce_clear(struct store_reduce *reduce, int64_t window);
