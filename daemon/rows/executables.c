/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/executables.h"

#include <errno.h>
#include <inttypes.h>

#include "common/util/array.h"
#include "common/util/macro.h"
#include "daemon/rows/count-slot.h"

#define MAX_GAP 8 /* of ids that are read for nothing, rather than to begin anew */

enum {
	READ_EXECUTABLES,
	READ_STRING,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[READ_EXECUTABLES] =
		"SELECT id, executable FROM process WHERE id BETWEEN ? AND ? ORDER BY id",
	[READ_STRING] = "SELECT text FROM string WHERE id = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_EXECUTABLES, "executables.h has another number");

int store_executables_init(struct store_executables *executables, struct database *database)
{
	executables->database = database;
	return database_prepare(database, sql, N_STATEMENTS, executables->statements);
}

int store_executables_note(struct function_sum *sum, int64_t id)
{
	if (id == 0 || id_set_has(&sum->seen, id) ||
	    (sum->n_fresh > 0 && sum->fresh[sum->n_fresh - 1] == id))
		return 0;
	if (ARRAY_RESERVE(&sum->fresh, &sum->cap_fresh, sum->n_fresh + 1) < 0)
		return -ENOMEM;
	sum->fresh[sum->n_fresh++] = id;
	return 0;
}

int store_executables_add(struct store_executables *executables, struct function_sum *sum,
			  int64_t string)
{
	struct statement *row = executables->statements[READ_STRING];
	int r, q;

	if (string <= 0 || id_set_has(&sum->seen_executables, string))
		return 0;
	statement_bind_int(row, 1, string);
	r = statement_step(row);
	if (r <= 0)
		return r; /* as a process without one */
	r = function_sum_add_executable(sum, statement_text(row, 0));
	q = statement_reset(row);
	if (r >= 0 && q >= 0 && sum->recording)
		r = count_slot_note_executable(sum, string);
	return r < 0 || q < 0 ? MIN(r, q) : id_set_put(&sum->seen_executables, string);
}

static int missing(const struct store_executables *executables, int64_t id)
{
	return database_damaged(executables->database,
				"process %" PRId64 " is referred to and not there", id);
}

/* The @n processes of @ids, which are close together. */
static int read_run(struct store_executables *executables, struct function_sum *sum,
		    const int64_t *ids, size_t n)
{
	struct statement *row = executables->statements[READ_EXECUTABLES];
	size_t at = 0;
	int r, q;

	STATEMENT_BIND(row, ids[0], ids[n - 1]);
	while ((r = statement_step(row)) > 0) {
		int64_t id = statement_int(row, 0);

		if (at < n && id > ids[at])
			break;
		if (at == n || id < ids[at])
			continue;
		r = store_executables_add(executables, sum, statement_int(row, 1));
		if (r >= 0)
			r = id_set_put(&sum->seen, id);
		if (r < 0)
			break;
		at++;
	}
	q = statement_reset(row);
	if (r < 0 || q < 0)
		return MIN(r, q);
	return at < n ? missing(executables, ids[at]) : 0;
}

int store_executables_end(struct store_executables *executables, struct function_sum *sum)
{
	const int64_t *ids = sum->fresh;
	int r = 0;

	for (size_t i = 0, next; r == 0 && i < sum->n_fresh; i = next) {
		for (next = i + 1; next < sum->n_fresh; next++)
			if ((uint64_t)ids[next] - (uint64_t)ids[next - 1] > MAX_GAP)
				break;
		r = read_run(executables, sum, ids + i, next - i);
	}
	return r;
}
