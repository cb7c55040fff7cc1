/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading windows. The file is not trusted: a reference to nothing, or a value that no profile can
 * have, is damage.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/counters.h"
#include "daemon/database/database.h"
#include "daemon/database/lookup.h"
#include "daemon/rows/batch.h"
#include "daemon/rows/window-rows.h"
#include "daemon/rows/window-sum.h"
#include "daemon/window/window.h"

#define N_STORE_READ 3

struct store_read {
	struct database *database;
	struct store_lookup lookup;
	struct store_counters *counters;
	struct statement *statements[N_STORE_READ];
	struct window_rows rows;
};

/* 0 or -errno. */
int store_read_init(struct store_read *read, struct database *database,
		    struct store_counters *counters);

/*
 * *@ret, the caller's to free: the windows that overlap [since, until), oldest first. No window is
 * longer than @longest_us, so that few rows are read. 0 or -errno.
 */
int store_read_list(struct store_read *read, uint64_t since_us, uint64_t until_us,
		    uint64_t longest_us, struct window **ret, size_t *ret_n);

/*
 * Fills in @window, found by its id, and adds its info and counters to @profile, in which it may be
 * the first. 1; 0 if there is no such window; or -errno.
 */
int store_read_head(struct store_read *read, struct window *window, struct profile *profile,
		    bool is_first);

/*
 * Adds the first *@ret_n windows of the batch, at least one, to @sum, which is void if that fails.
 * @number distinguishes databases. 0 or -errno. In a transaction of the caller.
 */
int store_read_add(struct store_read *read, uint64_t number, const struct store_batch *batch,
		   struct window_sum *sum, size_t *ret_n);

/*
 * *@ret is the sum of the profiles, finalized, of the first *@ret_n windows of the batch: of at
 * least one. 0 or -errno. In a transaction of the caller.
 */
int store_read_windows(struct store_read *read, const struct store_batch *batch, size_t *ret_n,
		       struct profile **ret);
