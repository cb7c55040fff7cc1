/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of numbers that go into one table, many by one statement: half the price of as many
 * statements.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/database/database.h"

#define BULK_ROWS        16
#define BULK_MAX_COLUMNS 12

#define BULK_TWICE(row) row ", " row
/* The two statements of bulk_init(): @into is "INSERT INTO ...", @row one row's "(?, ...)". */
#define BULK_SQL(into, row)                                                                 \
	{                                                                                   \
		into " VALUES " row,                                                        \
			into " VALUES " BULK_TWICE(BULK_TWICE(BULK_TWICE(BULK_TWICE(row)))) \
	}

struct bulk {
	struct statement *statements[2]; /* for one row, and for BULK_ROWS */
	size_t n_columns, n;
	int64_t values[BULK_ROWS * BULK_MAX_COLUMNS]; /* of the @n rows that wait */
};

/* 0 or -errno. */
int bulk_init(struct bulk *bulk, struct database *database, const char *const sql[2],
	      size_t n_columns);

/* A row; it is in the table after bulk_flush() at the latest. 0 or -errno. */
int bulk_add_row(struct bulk *bulk, const int64_t *values);
int bulk_flush(struct bulk *bulk);

#define BULK_ADD(bulk, ...) bulk_add_row(bulk, (const int64_t[]){ __VA_ARGS__ })

/* Drops the rows that wait. */
void bulk_forget(struct bulk *bulk);
