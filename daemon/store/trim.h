/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keeping the database within its limit: the oldest windows go, and what no window left refers to;
 * a bounded piece of work each time. The newest window stays, whatever its size.
 */
#pragma once

#include <stdint.h>

#include "daemon/store/database.h"
#include "daemon/store/intern.h"

#define N_STORE_TRIM 15

struct store_trim {
	struct database *database;
	struct statement *statements[N_STORE_TRIM];
	struct statement *skip[N_INTERNED_KINDS], *sweep[N_INTERNED_KINDS];
	/* The round through the interned rows: those that nothing has referred to since this
	 * horizon, ... */
	int64_t horizon;
	unsigned int step; /* ... kind by kind, ... */
	int64_t below;     /* ... the largest ids first. */
};

/* 0 or -errno. */
int store_trim_init(struct store_trim *trim, struct database *database);

/* In the transaction that wrote window @newest; *@ret_n_removed others went. 0 or -errno. */
int store_trim(struct store_trim *trim, uint64_t max_bytes, int64_t newest,
	       uint64_t *ret_n_removed);
/* To be called where the transaction was rolled back. */
void store_trim_forget(struct store_trim *trim);
