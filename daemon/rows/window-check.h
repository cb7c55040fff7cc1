/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks a window: that it can be read as a profile, that its tables add up to its totals, its
 * counts by function and by object, too, and that all it refers to is kept as long as it is.
 */
#pragma once

#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/database/problems.h"
#include "daemon/rows/functions.h"
#include "daemon/rows/read.h"

#define N_WINDOW_CHECK 2

struct window_check {
	struct database *database;
	struct store_read *read; /* borrowed, as the next */
	struct store_functions *functions;
	struct statement *statements[N_WINDOW_CHECK];
	/* Of the windows checked so far, so that what they share is looked up once. */
	struct window_sum *sum;
	struct function_sum *counts[N_SUM_KINDS];
};

/* 0 or -errno; in any case window_check_done() is due. */
int window_check_init(struct window_check *check, struct database *database,
		      struct store_read *read, struct store_functions *functions);

void window_check_done(struct window_check *check);

/* In a transaction of the caller. 1: checked; 0: there is no such window; or -errno. */
int window_check_run(struct window_check *check, int64_t id, struct problems *problems);
