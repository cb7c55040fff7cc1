/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a window: its rows, in the order of their keys, so that the tables grow at their ends
 * only and their pages become full.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/bulk.h"
#include "daemon/database/counters.h"
#include "daemon/database/database.h"
#include "daemon/database/intern.h"
#include "daemon/rows/code.h"
#include "daemon/rows/functions.h"
#include "daemon/rows/variances.h"
#include "daemon/window/window.h"

#define N_STORE_WRITE 3

/* What a window is written with; borrowed. */
struct store_write_modules {
	struct store_intern *intern;
	struct store_counters *counters;
	struct store_functions *functions;
	struct store_code *code;
};

struct store_write {
	struct database *database;
	struct store_write_modules modules;
	struct statement *statements[N_STORE_WRITE];
	struct bulk counts[N_PROFILE_TABLES];
	struct store_variances variances;
};

/* 0 or -errno. */
int store_write_init(struct store_write *write, struct database *database,
		     const struct store_write_modules *modules);

/*
 * Writes the window with the number @id, and the code of its hot functions, in a transaction that
 * the caller began and rolls back on failure. 0 or -errno.
 */
int store_write_window(struct store_write *write, int64_t id, int64_t horizon,
		       const struct window *window, const struct profile *profile);

/*
 * Writes the counts of the window anew, which was written with more rows, and whose counts were
 * removed: all but its row. 0 or -errno; -ENOENT: what they refer to is not all there.
 */
int store_write_again(struct store_write *write, int64_t id, int64_t horizon,
		      const struct profile *profile);

/*
 * The same of all counts of the window: what they refer to, and the window itself, was last seen
 * with the window @newest then, where that is below @horizon now.
 */
int store_write_renewed(struct store_write *write, int64_t id, int64_t newest, int64_t horizon,
			const struct profile *profile);

/*
 * The same of a sum of windows of which @id was the first. Rows that it lacks are added, in the
 * time of the window @newest. Most of them are known already if store_write_look_up_sum() was
 * called before, in a transaction of its own, which writes no counts.
 */
int store_write_look_up_sum(struct store_write *write, int64_t newest, int64_t horizon,
			    const struct profile *profile);
int store_write_sum(struct store_write *write, int64_t id, int64_t newest, int64_t horizon,
		    const struct profile *profile);
