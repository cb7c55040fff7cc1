/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which processes have gone when windows are merged. In the sum they are one for each name,
 * executable, unit and user, so that the week of a machine that builds does not list all of its
 * compilers.
 *
 * A process that is in the window after the merged ones, too, stays as it is for now: it is counted
 * once with its name, not once in each window. Across the border of two sums it may be counted
 * twice, so that the number is an upper bound.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/retention/settings.h"
#include "daemon/rows/batch.h"

#define N_STORE_GONE 2

struct store_gone {
	struct database *database;
	struct statement *statements[N_STORE_GONE];
	store_alive_handler is_alive;
	int64_t next; /* the window after those that are merged; 0: there is none */
};

/* 0 or -errno. Leaves is_alive as it is; NULL: what the system says. */
int store_gone_init(struct store_gone *gone, struct database *database);

/* The windows up to @last are to be merged. 0 or -errno. */
int store_gone_begin(struct store_gone *gone, int64_t last);

/* Sets is_gone of the batch by its merged_to, in a transaction of the caller. 0 or -errno. */
int store_gone_prepare(struct store_gone *gone, struct store_batch *batch);

/* Of the row @process of the table process, with @pid: 1 if it has gone, 0, or -errno. */
int store_gone_ask(int64_t process, int32_t pid, void *gone);
