/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of several lengths: those that have aged are merged into longer ones, and the longest go
 * at the end of their time.
 *
 * Time is divided into slots of the next tier's length. Once all of a slot is older than a tier
 * keeps its windows, those in it are merged, a few at a time: neighbours of one source, and without
 * a mark. So nothing has to be remembered of what is merged already. The sum has the id of its
 * first window and the exact counts of all; where that are many, the rarest rows are pruned, whose
 * counts stay in the sums. Processes that have gone become one for each name. It refers to what its
 * windows referred to, and to few new rows: of a place whose function only one of them knew, for
 * instance. What is not referred to any more is reclaimed once all windows around have been merged,
 * too.
 */
#pragma once

#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/retention/gone.h"
#include "daemon/retention/marks.h"
#include "daemon/retention/merge.h"
#include "daemon/retention/reclaim.h"
#include "daemon/retention/reduce.h"
#include "daemon/retention/settings.h"
#include "daemon/retention/share.h"
#include "daemon/retention/trim.h"
#include "daemon/rows/read.h"
#include "daemon/rows/write.h"

#define N_STORE_TIERING 7

/* Borrowed. */
struct store_tiering_modules {
	const struct store_marks *marks;
	struct store_intern *intern;
	struct store_first_ids *first_ids;
	struct store_reclaim *reclaim;
	struct store_gone *gone;
	struct store_share *share;
	struct store_read *read;
	struct store_write *write;
	struct store_reduce *reduce;
	struct store_trim *trim;
};

struct store_tiering {
	struct database *database;
	struct store_tiering_modules modules;
	struct statement *statements[N_STORE_TIERING];
	int64_t passed[STORE_MAX_TIERS]; /* up to this window there is nothing to merge */
	/* by the tier that they were in: what these had is to be reclaimed */
	struct store_reclaim_range merged[STORE_MAX_TIERS];
};

/* What a step has changed. */
struct store_tiering_step {
	uint64_t n_merged, n_removed; /* windows that are gone */
	uint64_t length_us;           /* of the sum */
};

/* 0 or -errno. */
int store_tiering_init(struct store_tiering *tiering, struct database *database,
		       const struct store_tiering_modules *modules);
/* To be called where a transaction was rolled back, and for other tiers. */
void store_tiering_forget(struct store_tiering *tiering);

/*
 * A step, each part in a transaction of the caller. First, which windows are due: 1, and *@ret has
 * their ids and rows; 0: none; 2: none yet, there are more to look at; or -errno.
 */
int store_tiering_find(struct store_tiering *tiering, const struct store_settings *settings,
		       struct store_merge *ret);
/* Looks up what a large sum refers to, some ms before it takes their place. 0 or -errno. */
int store_tiering_look_up(struct store_tiering *tiering, const struct store_merge *merge);
/* The sum takes their place. 0 or -errno. */
int store_tiering_replace(struct store_tiering *tiering, const struct store_merge *merge,
			  struct store_tiering_step *ret);
/* Where none are due: what is not needed any more goes. 1: there may be more to do; 0; or -errno.
 */
int store_tiering_clean(struct store_tiering *tiering, const struct store_settings *settings,
			struct store_tiering_step *ret);
