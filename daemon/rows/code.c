/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"

/* Bytes that are added with a window, and all there are. A machine may run new programs all the
 * time. */
#define MAX_WINDOW_BYTES (256u << 10)
#define MAX_BYTES        (64u << 20)
#define DATABASE_SHARE   8

enum {
	COUNT_BYTES,
	HAS_CODE,
	ADD_CODE,
	FIND_CODE,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[COUNT_BYTES] = "SELECT ifnull(sum(length(bytes)), 0) FROM code",
	[HAS_CODE] = "SELECT 1 FROM code WHERE function = ?",
	[ADD_CODE] = "INSERT INTO code (function, machine, bytes) VALUES (?, ?, ?)",
	[FIND_CODE] = "SELECT c.machine, c.bytes FROM object o "
		      "JOIN function f ON f.object = o.id JOIN code c ON c.function = f.id "
		      "WHERE o.build_id = ?1 AND f.start = ?2 AND o.untrusted = ?3 AND "
		      "(NOT ?3 OR (o.major = ?4 AND o.minor = ?5 AND o.inode = ?6 AND "
		      "o.ctime_ns = ?7))",
};

_Static_assert(N_STATEMENTS == N_STORE_CODE, "store-code.h has another number");

static int count_bytes(struct store_code *code)
{
	struct statement *row = code->statements[COUNT_BYTES];
	int r = statement_step(row);

	if (r <= 0)
		return r;
	code->n_bytes = (uint64_t)statement_int(row, 0);
	return statement_reset(row);
}

int store_code_init(struct store_code *code, struct database *database)
{
	int r;

	code->database = database;
	r = database_prepare(database, sql, N_STATEMENTS, code->statements);
	return r < 0 ? r : count_bytes(code);
}

static int is_kept(struct store_code *code, int64_t function)
{
	struct statement *row = code->statements[HAS_CODE];
	int r;

	STATEMENT_BIND(row, function);
	r = statement_step(row);
	return r <= 0 ? r : statement_reset(row) ?: 1;
}

/* The number of bytes that were added. */
static int keep(struct store_code *code, const struct profile *p,
		const struct profile_function *function, int64_t id, uint8_t *buffer)
{
	struct statement *add = code->statements[ADD_CODE];
	uint16_t machine;
	int n, r;

	r = is_kept(code, id);
	if (r != 0)
		return MIN(r, 0);
	n = code->source(p, function, buffer, (size_t)function->size, &machine, code->userdata);
	if (n <= 0 || (uint64_t)n < function->size)
		return n == -ENOMEM ? n : 0;
	statement_bind_int(add, 1, id);
	statement_bind_int(add, 2, machine);
	statement_bind_blob(add, 3, buffer, (size_t)n);
	r = statement_run(add);
	return r < 0 ? r : n;
}

static int keep_hottest(struct store_code *code, const struct profile *p,
			const struct interned *functions, uint8_t *buffer)
{
	size_t hot[HOT_FUNCTIONS_MAX], n, n_bytes = 0;
	int r = hot_functions_find(p, hot, &n);

	for (size_t i = 0; i < n && r >= 0; i++) {
		const struct profile_function *function = &p->functions[hot[i]];

		if (n_bytes + function->size > MAX_WINDOW_BYTES)
			continue;
		r = keep(code, p, function, functions[hot[i]].id, buffer);
		n_bytes += (size_t)MAX(r, 0);
	}
	code->n_bytes += n_bytes;
	return MIN(r, 0);
}

static bool is_full(const struct store_code *code)
{
	uint64_t max_bytes = MAX_BYTES;

	if (code->max_bytes > 0)
		max_bytes = MIN(max_bytes, code->max_bytes / DATABASE_SHARE);
	return code->n_bytes >= MAX(max_bytes, (uint64_t)MAX_WINDOW_BYTES);
}

int store_code_keep(struct store_code *code, const struct profile *profile,
		    const struct interned *functions)
{
	_cleanup_free_ uint8_t *buffer = NULL;
	int r = 0;

	if (!code->source)
		return 0;
	if (is_full(code))
		r = count_bytes(code); /* some may have gone */
	if (r < 0 || is_full(code))
		return r;
	buffer = malloc(STORE_CODE_MAX_FUNCTION);
	return buffer ? keep_hottest(code, profile, functions, buffer) : -ENOMEM;
}

int store_code_find(struct store_code *code, const struct store_function *function, void *ret,
		    size_t n, uint16_t *ret_machine)
{
	struct statement *row = code->statements[FIND_CODE];
	const void *bytes;
	size_t n_bytes;
	int r;

	statement_bind_blob(row, 1, function->build_id, function->n_build_id);
	statement_bind_int(row, 2, (int64_t)function->start);
	statement_bind_int(row, 3, function->untrusted);
	statement_bind_int(row, 4, function->major);
	statement_bind_int(row, 5, function->minor);
	statement_bind_int(row, 6, (int64_t)function->inode);
	statement_bind_int(row, 7, (int64_t)function->ctime_ns);
	r = statement_step(row);
	if (r <= 0)
		return r;
	*ret_machine = (uint16_t)statement_int(row, 0);
	bytes = statement_blob(row, 1, &n_bytes);
	n = MIN(n, n_bytes);
	if (n > 0)
		memcpy(ret, bytes, n);
	r = statement_reset(row);
	return r < 0 ? r : (int)n;
}
