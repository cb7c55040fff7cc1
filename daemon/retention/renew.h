/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Marked windows outlive others by far. What they refer to was last seen when they were written, so
 * that the sweep of trim.h, which goes by the horizon of the oldest window, would keep all that was
 * seen since. So they are written again now and then, one at a time, as they are: then what they
 * refer to counts as seen just now. Once that is done for all that are older than the oldest window
 * without a mark, they get its horizon.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/retention/reduce.h"
#include "daemon/rows/read.h"
#include "daemon/rows/write.h"

#define N_STORE_RENEW 5

/* Borrowed. */
struct store_renew_modules {
	struct store_first_ids *first_ids;
	struct store_read *read;
	struct store_write *write;
	struct store_reduce *reduce;
};

struct store_renew {
	struct database *database;
	struct store_renew_modules modules;
	struct statement *statements[N_STORE_RENEW];
	int64_t below;   /* 0: nothing is under way; else windows before this one ... */
	int64_t horizon; /* ... are to get this horizon; */
	int64_t done;    /* those up to this one were written again */
	bool failed;     /* rows are missing, so that a window cannot be written */
};

/* 0 or -errno. */
int store_renew_init(struct store_renew *renew, struct database *database,
		     const struct store_renew_modules *modules);

/*
 * In a transaction of the caller. Writes one window again, if the marked ones are older than all
 * others by more than @n_windows and more than a quarter of the others' span. 1; 0: there is
 * nothing to do; or -errno.
 */
int store_renew_step(struct store_renew *renew, uint64_t n_windows);

/* To be called where the transaction was rolled back, and where a mark was removed. */
void store_renew_forget(struct store_renew *renew);
