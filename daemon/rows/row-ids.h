/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of a profile on their way into the database: the ids of what they name, and their order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/intern.h"
#include "daemon/rows/row-order.h"

/* What the rows of a profile are in the database. */
struct row_ids {
	struct store_intern *intern;   /* borrowed */
	const struct profile *profile; /* borrowed */
	struct interned *objects, *processes, *functions;
	bool *led_to;           /* by function: a place lies directly in it */
	struct row_order order; /* of the table being written */
};

/* Once the first two are set. 0 or -ENOMEM. */
int row_ids_init(struct row_ids *ids);
void row_ids_done(struct row_ids *ids);

/* Finds or makes the ids of objects, processes and functions; before all others. */
int row_ids_intern_short_tables(struct row_ids *ids);

/*
 * Each finds or makes the ids of one table's places and nodes, and leaves the rows that are to be
 * written in @order, by process and id: of stacks those of the caller and of the place, of streams
 * that of the stream, of branches and blocks those of both ends. All return 0 or a negative error
 * number.
 */
int row_ids_list_stacks(struct row_ids *ids);
int row_ids_list_streams(struct row_ids *ids);
int row_ids_list_branches(struct row_ids *ids);
int row_ids_list_blocks(struct row_ids *ids);
