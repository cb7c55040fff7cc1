/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Removing places, stacks and streams that nothing refers to any more since windows in the middle
 * were pruned. The sweep of trim.h cannot: it goes by the horizon of the oldest window.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/database/database.h"

#define N_STORE_RECLAIM 16

struct store_reclaim {
	struct database *database;
	struct statement *statements[N_STORE_RECLAIM];
	int64_t from, to; /* windows that were pruned since; from > to: none */
};

/* 0 or -errno. */
int store_reclaim_init(struct store_reclaim *reclaim, struct database *database);
/* To be called where a transaction was rolled back. */
void store_reclaim_forget(struct store_reclaim *reclaim);

/* Notes the largest ids before a window is written; nothing older refers to larger ones. 0 or
 * -errno. */
int store_reclaim_begin_window(struct store_reclaim *reclaim, int64_t window);

/* A window was pruned. */
void store_reclaim_note(struct store_reclaim *reclaim, int64_t window);

/*
 * Removes what windows that were pruned before @newest have left behind: some of them, the rest at
 * the next call. Unless @all, only what is below the horizon of the window @newest; what is above
 * may be remembered, so that store_intern_forget() is due. 0 or -errno.
 */
int store_reclaim_run(struct store_reclaim *reclaim, int64_t newest, bool all);
