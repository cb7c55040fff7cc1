/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * With which window a row came, by its id: the table window_first of schema.sql. Rows that are
 * added later have larger ids, unless the largest ones have gone meanwhile: then the least id noted
 * with a window or later is what counts.
 */
#pragma once

#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/database/intern.h"

/* The kinds of rows, in the order of their ids below; referrers come before what they refer to. */
enum row_kind {
	ROW_STACK,
	ROW_STREAM,
	ROW_PROCESS,
	ROW_PLACE,
	ROW_FUNCTION,
	ROW_OBJECT,
	ROW_STRING,
	N_ROW_KINDS,
};

#define N_STORE_FIRST_IDS 9

struct store_first_ids {
	struct database *database;
	struct statement *statements[N_STORE_FIRST_IDS];
};

/* Each in a transaction of the caller. 0 or -errno. */
int store_first_ids_init(struct store_first_ids *ids, struct database *database);

/* Before a window is written, and before a sum adds rows, which is in the time of the newest
 * window. */
int store_first_ids_begin_window(struct store_first_ids *ids, int64_t window);
int store_first_ids_begin_sum(struct store_first_ids *ids);

/* The window, or where it is not there the one before it, or else @window itself. 0 or -errno. */
int store_first_ids_find_window(struct store_first_ids *ids, int64_t window, int64_t *ret);
/* Rows that came with @window or later have larger ids than these; others that are there have not.
 * 1; 0: nothing is noted of such windows; or -errno. */
int store_first_ids_find(struct store_first_ids *ids, int64_t window, int64_t ret[N_ROW_KINDS]);
/* The largest ids there are. 0 or -errno. */
int store_first_ids_find_last(struct store_first_ids *ids, int64_t ret[N_ROW_KINDS]);

/* The window goes: what was added with it counts as added with the one before it. */
int store_first_ids_remove(struct store_first_ids *ids, int64_t window);

/*
 * A window that is there was written again, or has become a sum: notes up to which window the rows
 * came that it refers to. They are those whose largest ids @intern has found; @at_least is that of
 * its parts, or 0.
 */
int store_first_ids_note_newest(struct store_first_ids *ids, const struct store_intern *intern,
				int64_t window, int64_t at_least);
