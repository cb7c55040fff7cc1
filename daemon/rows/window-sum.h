/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sum of windows as they are read, one after the other: a row that several windows count is
 * one, found by the ids of the database. So a day takes no more memory than what is different in
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/profile/tables.h"
#include "common/util/macro.h"
#include "daemon/database/id-map.h"
#include "daemon/database/lookup.h"

/*
 * The rows of a table that were read so far. Windows have much the same rows in the same order: so
 * the one behind the last one is looked at first.
 */
struct window_sum_rows {
	struct window_sum_row *rows;
	size_t n, cap, next;
	struct id_map numbers; /* of rows, by their keys */
};

struct window_sum {
	unsigned int tables; /* see tables.h; other rows are left out */
	struct profile *profile;
	size_t n_windows; /* added */

	/* By the ids of one database. */
	uint64_t database;
	struct store_lookup lookup;
	struct id_map processes; /* to indices */
	struct id_map gone;      /* those that have gone, by their names: to indices */
	struct window_sum_rows rows[N_PROFILE_TABLES];
};

/* @tables is a set, see tables.h. 0 or -ENOMEM. */
int window_sum_new(struct window_sum **ret, unsigned int tables);
struct window_sum *window_sum_free(struct window_sum *sum);
DEFINE_CLEANUP(struct window_sum *, window_sum_free);

/* Empty again. 0 or -ENOMEM. */
int window_sum_clear(struct window_sum *sum);

/* What follows comes from the database @number, whose @lookup is borrowed until the next call. */
void window_sum_use(struct window_sum *sum, uint64_t number, const struct store_lookup *lookup);

/* The index in the profile of the row with these ids: -ENOENT if there is none yet. */
int64_t window_sum_find(struct window_sum *sum, enum profile_table table, struct id_key key);
/* It was added at @index, or could not be: 0 or -errno. */
int window_sum_put(struct window_sum *sum, enum profile_table table, struct id_key key,
		   int64_t index);

/* What it has so far. */
size_t window_sum_n_rows(const struct window_sum *sum);
size_t window_sum_bytes(const struct window_sum *sum);

/* *@ret is the sum, finalized; nothing is left here. 0 or -ENOMEM. */
int window_sum_take(struct window_sum *sum, struct profile **ret);
