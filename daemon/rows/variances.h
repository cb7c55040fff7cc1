/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What estimating adds to the variances of the rows of a window. Most windows have none, so they
 * are not columns of the rows: schema.sql describes them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/tables.h"
#include "daemon/database/database.h"
#include "daemon/rows/function-blob.h"
#include "daemon/rows/row-order.h"

#define N_STORE_VARIANCES 2

struct store_variances {
	struct database *database;
	struct statement *statements[N_STORE_VARIANCES];
	/* of the table that is read: what is left of them, or NULL */
	int64_t window;
	struct function_bytes left;
};

/* 0 or -errno. */
int store_variances_init(struct store_variances *variances, struct database *database);

/* Rows of a profile: their size, and where in a row its variance is. */
struct variance_column {
	const void *rows;
	size_t size, offset;
};

/* Writes those of a table whose rows were written in @order. 0 or -errno. */
int store_variances_write(struct store_variances *variances, int64_t window,
			  enum profile_table table, const struct row_order *order,
			  const struct variance_column *column);

/* Reads those of a table, in the order of the keys of its rows. store_variances_next() is then
 * called for each row; the end, to which @r says how reading them ended, says whether there were as
 * many. 0 or -errno. */
int store_variances_begin(struct store_variances *variances, int64_t window,
			  enum profile_table table);
int store_variances_end(struct store_variances *variances, int r);

static inline uint64_t store_variances_next(struct store_variances *variances)
{
	return variances->left.data ? function_bytes_take(&variances->left) : 0;
}
