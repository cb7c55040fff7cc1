/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading windows. What the file holds is not trusted: whatever refers to nothing, or cannot be in a
 * profile, is damage.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database.h"
#include "daemon/store-lookup.h"
#include "daemon/window.h"

#define N_STORE_READ 9

struct store_read {
	struct database *database;
	struct store_lookup lookup;
	struct statement *statements[N_STORE_READ];
};

/* 0 or -errno. */
int store_read_init(struct store_read *read, struct database *database);

/*
 * *@ret, the caller's to free: those with a moment of [since, until), oldest first. None is longer than
 * @longest_us: so few have to be looked at. 0 or -errno.
 */
int store_read_list(struct store_read *read, uint64_t since_us, uint64_t until_us,
		    uint64_t longest_us, struct window **ret, size_t *ret_n);

/* 1; 0 if there is no such window; or -errno. In a transaction of the caller's. */
int store_read_window(struct store_read *read, int64_t id, struct window *ret_window,
		      struct profile **ret);
