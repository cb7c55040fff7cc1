/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counts of a window by function, object or process. They repeat the rows of the other tables,
 * but take a thousandth of the time to read. See the tables function_counts and object_counts in
 * schema.sql.
 */
#pragma once

#include <stdint.h>

#include "common/profile/filter.h"
#include "common/profile/profile.h"
#include "daemon/database/database.h"
#include "daemon/database/intern.h"
#include "daemon/rows/executables.h"
#include "daemon/rows/function-sum.h"
#include "daemon/rows/owners.h"
#include "daemon/rows/programs.h"
#include "daemon/rows/read.h"
#include "daemon/rows/slots.h"

#define N_STORE_FUNCTIONS 4

struct store_functions {
	struct database *database;
	struct statement *statements[N_STORE_FUNCTIONS];
	struct store_executables executables;
	struct store_owners owners;
	struct store_slots slots;
	struct store_programs programs;
};

int store_functions_init(struct store_functions *functions, struct database *database);

/* Of window @id; the others are what the rows of @profile are in the database. 0 or -errno. */
int store_functions_write(struct store_functions *functions, int64_t id,
			  const struct profile *profile, const struct interned *processes,
			  const struct interned *objects, const struct interned *names);

/*
 * Fills in @window, found by its id, and adds its counts of the processes that match. If they are
 * damaged or missing they are counted again from its rows. 1; 0 if there is no such window; or
 * -errno; -ENODATA: by object, and the window is of a time before such counts. In a transaction of
 * the caller.
 */
int store_functions_read(struct store_functions *functions, struct store_read *read,
			 struct window *window, const struct profile_filter *filter,
			 struct function_sum *sum);
