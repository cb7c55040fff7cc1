/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/bulk.h"

#include <assert.h>
#include <string.h>

int bulk_init(struct bulk *bulk, struct database *database, const char *const sql[2],
	      size_t n_columns)
{
	assert(n_columns <= BULK_MAX_COLUMNS);
	bulk->n_columns = n_columns;
	bulk->n = 0;
	return database_prepare(database, sql, 2, bulk->statements);
}

static int insert(struct statement *statement, const int64_t *values, size_t n)
{
	statement_bind_ints(statement, values, n);
	return statement_run(statement);
}

int bulk_add_row(struct bulk *bulk, const int64_t *values)
{
	memcpy(bulk->values + bulk->n * bulk->n_columns, values, bulk->n_columns * sizeof(*values));
	if (++bulk->n < BULK_ROWS)
		return 0;
	bulk->n = 0;
	return insert(bulk->statements[1], bulk->values, BULK_ROWS * bulk->n_columns);
}

int bulk_flush(struct bulk *bulk)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < bulk->n; i++)
		r = insert(bulk->statements[0], bulk->values + i * bulk->n_columns,
			   bulk->n_columns);
	bulk->n = 0;
	return r;
}

void bulk_forget(struct bulk *bulk)
{
	bulk->n = 0;
}
