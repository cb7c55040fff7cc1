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
struct writing {
	struct store_intern *intern;   /* borrowed */
	const struct profile *profile; /* borrowed */
	struct interned *objects, *processes, *functions, *stacks, *streams;
	bool *led_to;           /* by function: a place lies directly in it */
	bool *inner;            /* of each stack or stream: there is a deeper one */
	struct row_order order; /* of the table being written */
};

/* Once the first two are set. 0 or -ENOMEM. */
int writing_init(struct writing *writing);
void writing_done(struct writing *writing);

/* Finds or makes the ids of objects, processes and functions; before all others. */
int writing_intern_short_tables(struct writing *writing);

/*
 * Each finds or makes the ids of one table's places and nodes, and leaves the rows that are to be
 * written in @order, by process and id: of stacks those of the caller and of the place, of streams
 * that of the stream, of branches and blocks those of both ends. All return 0 or a negative error
 * number.
 */
int writing_list_stacks(struct writing *writing);
int writing_list_streams(struct writing *writing);
int writing_list_branches(struct writing *writing);
int writing_list_blocks(struct writing *writing);
