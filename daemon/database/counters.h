/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The counters of windows (PROFILE_COUNTERS): each name is kept once, with its meaning, and each
 * window has the values that are not 0.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/database.h"

#define N_STORE_COUNTERS 4

struct store_counters {
	struct database *database;
	struct statement *statements[N_STORE_COUNTERS];
};

/* Each 0 or -errno. */
int store_counters_init(struct store_counters *counters, struct database *database);
int store_counters_write(struct store_counters *counters, int64_t window,
			 const struct profile_counters *values);
/* Adds those of the window to @values. Counters of other versions, of unknown names, are skipped.
 */
int store_counters_read(struct store_counters *counters, int64_t window,
			struct profile_counters *values);
/* Writes the meanings of today into the table, which may have those of an earlier version. */
int store_counters_describe(struct database *database);
