/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which rows of a sum by process, name, unit or user the processes of windows belong to. Windows
 * have hundreds of processes, and a day of a busy machine has tens of thousands: so each is read
 * once, those with neighbouring ids together, and rows get their names at the end.
 */
#pragma once

#include <stdint.h>

#include "common/profile/filter.h"
#include "daemon/database/database.h"
#include "daemon/rows/function-sum.h"

#define N_STORE_OWNERS 4

struct store_owners {
	struct database *database;
	struct statement *statements[N_STORE_OWNERS];
};

/* 0 or -errno. */
int store_owners_init(struct store_owners *owners, struct database *database);

/* The row of @owner, which is as the id of a row, see function-sum.h; it is added if there is none.
 * Or -errno. */
int64_t store_owners_row(struct store_owners *owners, struct function_sum *sum, int64_t owner,
			 bool is_gone);

/* Whether process @id matches, 1 or 0; or -errno. Then *@ret is its row, if there are rows of
 * owners, or its executable is noted. Process 0 is none, which matches nothing. */
int store_owners_match(struct store_owners *owners, struct function_sum *sum,
		       const struct profile_filter *filter, int64_t id, int64_t *ret);

/* The row of process @id, 0 for none; -ENOENT: it is not known yet. */
int64_t store_owners_find(const struct function_sum *sum, int64_t id);

/* The processes of sum->fresh, by ids that ascend, become their rows. 0 or -errno. */
int store_owners_load(struct store_owners *owners, struct function_sum *sum);

/* Of a row of processes that have gone, how many they are in @window; 0 for others; or -errno. */
int64_t store_owners_count_gone(struct store_owners *owners, const struct function_sum *sum,
				int64_t row, int64_t window);

/* Names some more rows: 1; 0: all have their names; or -errno. */
int store_owners_name(struct store_owners *owners, struct function_sum *sum);
