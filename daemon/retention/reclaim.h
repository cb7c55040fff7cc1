/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Removing what nothing refers to any more since windows in the middle were pruned or merged: the
 * short-lived processes of the day before, the stacks that were too rare, their places, functions,
 * objects and strings. The sweep of trim.h cannot: it goes by the horizon of the oldest window.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/retention/first-ids.h"

#define N_STORE_RECLAIM 30

/* Windows that have less to refer to than before. */
struct store_reclaim_range {
	int64_t from, to; /* 0: none */
};

struct store_reclaim {
	struct database *database;
	struct store_first_ids *first_ids; /* borrowed */
	struct statement *statements[N_STORE_RECLAIM];
};

/* 0 or -errno. */
int store_reclaim_init(struct store_reclaim *reclaim, struct database *database,
		       struct store_first_ids *first_ids);

/* A window was pruned or merged. */
void store_reclaim_note(struct store_reclaim_range *range, int64_t window);

/*
 * Removes what windows that were pruned before @newest have left behind: some of them, the rest at
 * the next call. Unless @all, only what is below the horizon of the window @newest; what is above
 * may be remembered, so that store_intern_forget() is due. 0 or -errno.
 */
int store_reclaim_run(struct store_reclaim *reclaim, struct store_reclaim_range *range,
		      int64_t newest, bool all);

/*
 * The same of windows that were merged, as long as all windows are merged that may refer to what
 * is looked at: some ms of work. 1: store_intern_note_removed() is due; 0: nothing to do yet; or
 * -errno.
 */
int store_reclaim_merged(struct store_reclaim *reclaim, struct store_reclaim_range *range);
