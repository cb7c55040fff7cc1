/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of counts of a window, into the sum of those that are read. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/database.h"
#include "daemon/rows/batch.h"
#include "daemon/rows/variances.h"
#include "daemon/rows/window-sum.h"

#define N_WINDOW_ROWS 7

struct window_rows {
	struct statement *statements[N_WINDOW_ROWS];
	struct store_variances variances;
};

/* 0 or -errno. */
int window_rows_init(struct window_rows *rows, struct database *database);

/* Windows being read, one after the other, into one sum. */
struct window_reading {
	struct database *database;
	struct window_rows *rows;
	const struct store_batch *batch;
	struct window_sum *sum; /* NULL: only a head is read, into */
	struct profile *profile;
	int64_t window;
	int64_t process; /* the last one that was found, by its id and its index; 0: none */
	uint32_t process_index;
	size_t n_windows; /* before it */
	size_t n_rows;
};

/* Reads those of reading->window: its processes, and the tables that the sum is to have. 0 or
 * -errno. */
int window_rows_read(struct window_reading *reading);
