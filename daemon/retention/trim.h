/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeping the database within its limit: users who have more than a fair share lose the rarest of
 * their rows; where nobody has, the oldest windows go; and with both what no window left refers to.
 * A bounded piece of work each time. The newest window and marked ones stay, whatever their size.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/database/intern.h"
#include "daemon/retention/first-ids.h"
#include "daemon/retention/reclaim.h"
#include "daemon/retention/reduce.h"
#include "daemon/retention/renew.h"
#include "daemon/retention/share.h"

#define N_STORE_TRIM 8

/* Borrowed. */
struct store_trim_modules {
	struct store_intern *intern;
	struct store_share *share;
	struct store_first_ids *first_ids;
	struct store_reclaim *reclaim;
	struct store_reduce *reduce;
	struct store_renew *renew;
};

struct store_trim {
	struct database *database;
	struct store_trim_modules modules;
	struct statement *statements[N_STORE_TRIM];
	struct statement *skip[N_INTERNED_KINDS], *sweep[N_INTERNED_KINDS];
	/* The round through the interned rows: those that nothing has referred to since this
	 * horizon, ... */
	int64_t horizon;
	unsigned int step;   /* ... kind by kind, ... */
	int64_t below;       /* ... the largest ids first. */
	uint64_t floor;      /* to this number of rows of each table users are pruned in a window */
	uint64_t used_bytes; /* after the last time */
	bool crowded;        /* there is not much room left */
};

/* 0 or -errno. */
int store_trim_init(struct store_trim *trim, struct database *database,
		    const struct store_trim_modules *modules);

/* In the transaction that wrote window @newest; *@ret_n_removed others went. 0 or -errno. */
int store_trim(struct store_trim *trim, uint64_t max_bytes, int64_t newest,
	       uint64_t *ret_n_removed);
/*
 * For windows that have gone by age: some ms of removing what they referred to, and then of giving
 * free pages back to the file system, where there are many. In a transaction of the caller. 1:
 * there is more to do; 0; or -errno.
 */
int store_trim_idle(struct store_trim *trim);

/* For whoever wants the room now, in transactions of the caller: some ms each. */
struct store_trim_size {
	uint64_t bytes, used_bytes; /* of the file, and what of it is in use */
};
int store_trim_measure(struct store_trim *trim, struct store_trim_size *ret);
/* Removes what no window left refers to. 1: there is more to do; 0; or -errno. */
int store_trim_sweep(struct store_trim *trim);
/* Gives free pages back to the file system. 0 or -errno. */
int store_trim_shrink(struct store_trim *trim);

/* To be called where the transaction was rolled back. */
void store_trim_forget(struct store_trim *trim);

/* Removes a window, in a transaction of the caller. 0 or -errno. */
int store_trim_remove(struct store_trim *trim, int64_t id);
