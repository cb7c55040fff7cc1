/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading windows. What the file holds is not trusted: whatever refers to nothing, or cannot be in
 * a profile, is damage.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/store/batch.h"
#include "daemon/store/counters.h"
#include "daemon/store/database.h"
#include "daemon/store/lookup.h"
#include "daemon/window/window.h"

#define N_STORE_READ 9

struct store_read {
	struct database *database;
	struct store_lookup lookup;
	struct store_counters *counters;
	struct statement *statements[N_STORE_READ];
};

/* 0 or -errno. */
int store_read_init(struct store_read *read, struct database *database,
		    struct store_counters *counters);

/*
 * *@ret, the caller's to free: those with a moment of [since, until), oldest first. None is longer
 * than
 * @longest_us: so few have to be looked at. 0 or -errno.
 */
int store_read_list(struct store_read *read, uint64_t since_us, uint64_t until_us,
		    uint64_t longest_us, struct window **ret, size_t *ret_n);

/*
 * Adds info and counters of @window, told by its id, to @profile, where it may be the first; the
 * rest of it is filled in. 1; 0 if there is no such window; or -errno.
 */
int store_read_head(struct store_read *read, struct window *window, struct profile *profile,
		    bool is_first);

/*
 * *@ret is the sum of the profiles, finalized, of the first *@ret_n windows of the batch: of at
 * least one. 0 or -errno. In a transaction of the caller.
 */
int store_read_windows(struct store_read *read, const struct store_batch *batch, size_t *ret_n,
		       struct profile **ret);
