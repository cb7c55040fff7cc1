/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* The functions of a window with at least this part of its samples each, at most this number. */
#define MIN_PART      1000
#define MAX_FUNCTIONS 32u

/* Bytes that are added with a window, and all there are. A machine may run new programs all the
 * time. */
#define MAX_WINDOW_BYTES (256u << 10)
#define MAX_BYTES        (64u << 20)

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

struct heat {
	uint64_t samples;
	size_t function;
};

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

static int compare_heat(const void *p, const void *q)
{
	const struct heat *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(b->samples, a->samples));
	return COMPARE(a->function, b->function);
}

/* All functions, the hottest first. */
static struct heat *rank(const struct profile *p)
{
	struct heat *heats = calloc(p->n_functions + 1, sizeof(*heats));

	if (!heats)
		return NULL;
	for (size_t i = 0; i < p->n_functions; i++)
		heats[i].function = i;
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_function *f = NULL;

		if (p->stacks[i].samples > 0)
			f = profile_find_function(p, p->stacks[i].frame);
		if (f)
			heats[f - p->functions].samples += p->stacks[i].samples;
	}
	qsort(heats, p->n_functions, sizeof(*heats), compare_heat);
	return heats;
}

static bool may_be_kept(const struct profile *p, const struct profile_function *function)
{
	const struct profile_object *object;

	if (function->object == PROFILE_NONE || function->size == 0 ||
	    function->size > STORE_CODE_MAX_FUNCTION)
		return false;
	object = &p->objects[function->object];
	return object->n_build_id > 0 &&
	       (object->kind == OBJECT_FILE || object->kind == OBJECT_VDSO);
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
			const struct interned *functions, const struct heat *heats, uint8_t *buffer)
{
	size_t n = MIN(p->n_functions, (size_t)MAX_FUNCTIONS), n_bytes = 0;
	int r;

	for (size_t i = 0; i < n && heats[i].samples >= p->counters.samples / MIN_PART + 1; i++) {
		const struct profile_function *function = &p->functions[heats[i].function];

		if (!may_be_kept(p, function) || n_bytes + function->size > MAX_WINDOW_BYTES)
			continue;
		r = keep(code, p, function, functions[heats[i].function].id, buffer);
		if (r < 0)
			return r;
		n_bytes += (size_t)r;
	}
	code->n_bytes += n_bytes;
	return 0;
}

int store_code_keep(struct store_code *code, const struct profile *profile,
		    const struct interned *functions)
{
	_cleanup_free_ struct heat *heats = NULL;
	_cleanup_free_ uint8_t *buffer = NULL;
	int r = 0;

	if (!code->source)
		return 0;
	if (code->n_bytes > MAX_BYTES)
		r = count_bytes(code); /* some may have gone */
	if (r < 0 || code->n_bytes > MAX_BYTES)
		return r;
	heats = rank(profile);
	buffer = malloc(STORE_CODE_MAX_FUNCTION);
	if (!heats || !buffer)
		return -ENOMEM;
	return keep_hottest(code, profile, functions, heats, buffer);
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
