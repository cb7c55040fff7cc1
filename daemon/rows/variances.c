/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/variances.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"
#include "daemon/rows/byte-writer.h"

enum { ADD, READ, N_STATEMENTS };

static const char *const sql[N_STATEMENTS] = {
	[ADD] = "INSERT INTO variance (window, counted, variances) VALUES (?, ?, ?)",
	[READ] = "SELECT variances FROM variance WHERE window = ? AND counted = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_VARIANCES, "variances.h has another number");

int store_variances_init(struct store_variances *variances, struct database *database)
{
	*variances = (struct store_variances){ .database = database };
	return database_prepare(database, sql, N_STATEMENTS, variances->statements);
}

static uint64_t get(const struct variance_column *column, size_t i)
{
	uint64_t variance;

	memcpy(&variance, (const char *)column->rows + i * column->size + column->offset,
	       sizeof(variance));
	return variance;
}

int store_variances_write(struct store_variances *variances, int64_t window,
			  enum profile_table table, const struct row_order *order,
			  const struct variance_column *column)
{
	struct statement *add = variances->statements[ADD];
	struct byte_writer bytes = { 0 };
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < order->n && !any; i++)
		any = get(column, order->rows[i].index) > 0;
	if (!any)
		return 0;
	for (size_t i = 0; i < order->n; i++)
		byte_writer_put(&bytes, get(column, order->rows[i].index));
	if (bytes.failed) {
		r = -ENOMEM;
	} else {
		STATEMENT_BIND(add, window, table);
		statement_bind_blob(add, 3, bytes.data, bytes.n);
		r = statement_run(add);
	}
	free(bytes.data);
	return r;
}

int store_variances_begin(struct store_variances *variances, int64_t window,
			  enum profile_table table)
{
	struct statement *row = variances->statements[READ];
	int r;

	variances->window = window;
	variances->left = (struct function_bytes){ 0 };
	STATEMENT_BIND(row, window, table);
	r = statement_step(row);
	if (r > 0)
		variances->left.data = statement_blob(row, 0, &variances->left.n);
	return MIN(r, 0);
}

int store_variances_end(struct store_variances *variances, int r)
{
	const struct function_bytes *left = &variances->left;
	int q = statement_reset(variances->statements[READ]);

	if (r >= 0 && q >= 0 && (left->damaged || left->n > 0))
		return database_damaged(variances->database, "the variances of window %" PRId64,
					variances->window);
	return r < 0 ? r : q;
}
