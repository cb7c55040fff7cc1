/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/owners.h"

#include <errno.h>
#include <inttypes.h>

#include "common/util/macro.h"

#define MAX_GAP       8         /* of ids that are read for nothing, rather than to begin anew */
#define MAX_PROCESSES (1 << 16) /* that are remembered; beyond, they are read again */
#define N_AT_ONCE     2000      /* rows named at once */

enum {
	READ_PROCESSES,
	READ_NUMBERS,
	READ_STRING,
	READ_GONE,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[READ_PROCESSES] = "SELECT p.id, p.pid, p.comm, p.unit, p.uid, m.text, u.text, e.text, "
			   "p.restricted, p.start_ns FROM process p "
			   "LEFT JOIN string m ON m.id = p.comm AND m.id > 0 "
			   "LEFT JOIN string u ON u.id = p.unit AND u.id > 0 "
			   "LEFT JOIN string e ON e.id = p.executable AND e.id > 0 "
			   "WHERE p.id BETWEEN ? AND ? ORDER BY p.id",
	[READ_NUMBERS] = "SELECT id, pid, comm, unit, uid FROM process WHERE id BETWEEN ? AND ? "
			 "ORDER BY id",
	[READ_STRING] = "SELECT text FROM string WHERE id = ? AND id > 0",
	[READ_GONE] = "SELECT gone FROM process_count WHERE window = ? AND process = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_OWNERS, "owners.h has another number");

int store_owners_init(struct store_owners *owners, struct database *database)
{
	owners->database = database;
	return database_prepare(database, sql, N_STATEMENTS, owners->statements);
}

static int missing(const struct store_owners *owners, int64_t id)
{
	return database_damaged(owners->database,
				"process %" PRId64 " is referred to and not there", id);
}

/* Of the first five columns, which both statements have. */
static int64_t owner_of(const struct function_sum *sum, const struct statement *row)
{
	switch (sum->by) {
	case SUM_PROCESS:
		return statement_int(row, 0);
	case SUM_COMM:
		return statement_int(row, 2);
	case SUM_UNIT:
		return statement_int(row, 3);
	default:
		return statement_is_null(row, 4) ? UINT32_MAX : statement_int(row, 4);
	}
}

/* What stands for all processes of a name, unit or user. */
static int64_t add_owner_name(struct store_owners *owners, struct function_sum *sum, int64_t owner)
{
	struct profile_process process = { .pid = -1, .uid = UINT32_MAX };
	struct statement *row = owners->statements[READ_STRING];
	const char *text = NULL;
	int64_t index;
	int r = 0, q;

	if (sum->by == SUM_USER) {
		process.uid = (uint32_t)owner;
		return profile_add_process(sum->names, &process);
	}
	statement_bind_int(row, 1, owner);
	r = statement_step(row);
	if (r < 0)
		return r;
	text = r > 0 ? statement_text(row, 0) : NULL;
	process.comm = sum->by == SUM_COMM ? text : NULL;
	process.unit = sum->by == SUM_UNIT ? text : NULL;
	index = profile_add_process(sum->names, &process);
	q = r > 0 ? statement_reset(row) : 0;
	return q < 0 ? q : index;
}

/* Processes get their names at the end, the others at once. */
static int64_t add_owner(struct store_owners *owners, struct function_sum *sum, int64_t owner,
			 bool is_gone)
{
	int64_t index = PROFILE_NONE, row;

	if (sum->by != SUM_PROCESS && owner != OWNER_NONE)
		index = add_owner_name(owners, sum, owner);
	if (index < 0)
		return index;
	row = function_sum_add_other(sum, sum->by, owner, (uint32_t)index);
	if (row >= 0)
		sum->rows[row].is_gone = is_gone && sum->by == SUM_PROCESS;
	return row;
}

int64_t store_owners_row(struct store_owners *owners, struct function_sum *sum, int64_t owner,
			 bool is_gone)
{
	int64_t row = function_sum_find_other(sum, sum->by, owner);

	return row == -ENOENT ? add_owner(owners, sum, owner, is_gone) : row;
}

/* @row: negative if the process does not match. */
static int remember(struct function_sum *sum, int64_t id, int64_t row)
{
	struct id_map *processes = &sum->processes;

	if (processes->n >= MAX_PROCESSES)
		id_map_clear(processes);
	return id_map_put(processes, (struct id_key){ id, 0, 0 }, (struct id_value){ row, 0 });
}

static struct profile_process process_of(struct statement *row)
{
	return (struct profile_process){
		.pid = (int32_t)statement_int(row, 1),
		.uid = statement_is_null(row, 4) ? UINT32_MAX : (uint32_t)statement_int(row, 4),
		.comm = statement_text(row, 5) ?: "",
		.unit = statement_text(row, 6),
		.executable = statement_text(row, 7),
		.restricted = statement_int(row, 8) != 0,
		.start_ns = (uint64_t)statement_int(row, 9),
	};
}

/* The row of a process that is read, if it matches; -1: it does not; or -errno below that. */
static int64_t look_at(struct store_owners *owners, struct function_sum *sum,
		       const struct profile_filter *filter)
{
	struct statement *row = owners->statements[READ_PROCESSES];
	struct profile_process process = process_of(row);

	if (!profile_process_matches(&process, filter))
		return -1;
	if (function_sum_is_of_owners(sum->by))
		return store_owners_row(owners, sum, owner_of(sum, row), process.pid < 0);
	return function_sum_add_executable(sum, process.executable);
}

int store_owners_match(struct store_owners *owners, struct function_sum *sum,
		       const struct profile_filter *filter, int64_t id, int64_t *ret)
{
	const struct id_value *remembered =
		id_map_find(&sum->processes, (struct id_key){ id, 0, 0 });
	struct statement *row = owners->statements[READ_PROCESSES];
	int64_t found;
	int r, q;

	if (id == 0)
		return 0;
	if (remembered) {
		*ret = remembered->id;
		return *ret >= 0;
	}
	STATEMENT_BIND(row, id, id);
	r = statement_step(row);
	if (r <= 0)
		return r < 0 ? r : missing(owners, id);
	found = look_at(owners, sum, filter);
	q = statement_reset(row);
	if (found < -1 || q < 0)
		return MIN((int)found, q);
	*ret = found;
	r = remember(sum, id, found);
	return r < 0 ? r : found >= 0;
}

int64_t store_owners_find(const struct function_sum *sum, int64_t id)
{
	const struct id_value *remembered;

	if (id == 0)
		return function_sum_find_other(sum, sum->by, OWNER_NONE);
	remembered = id_map_find(&sum->processes, (struct id_key){ id, 0, 0 });
	return remembered ? remembered->id : -ENOENT;
}

/* The @n processes of @ids, which are close together; their rows take the places of the ids. */
static int load_run(struct store_owners *owners, struct function_sum *sum, int64_t *ids, size_t n)
{
	struct statement *row = owners->statements[READ_NUMBERS];
	size_t at = 0;
	int64_t found = 0;
	int r, q;

	STATEMENT_BIND(row, ids[0], ids[n - 1]);
	while ((r = statement_step(row)) > 0) {
		int64_t id = statement_int(row, 0);

		if (at == n || id > ids[at])
			break;
		if (id < ids[at])
			continue;
		found = store_owners_row(owners, sum, owner_of(sum, row),
					 statement_int(row, 1) < 0);
		r = found < 0 ? (int)found : remember(sum, id, found);
		if (r < 0)
			break;
		ids[at++] = found;
	}
	q = r == 0 ? 0 : statement_reset(row);
	if (r < 0 || q < 0)
		return MIN(r, q);
	return at < n ? missing(owners, ids[at]) : 0;
}

int store_owners_load(struct store_owners *owners, struct function_sum *sum)
{
	int64_t *ids = sum->fresh;
	size_t next = 0;
	int r = 0;

	if (sum->n_fresh > 0 && ids[0] == 0) {
		ids[0] = store_owners_row(owners, sum, OWNER_NONE, false);
		r = (int)MIN(ids[0], (int64_t)0);
		next = 1;
	}
	for (size_t i = next; r == 0 && i < sum->n_fresh; i = next) {
		for (next = i + 1; next < sum->n_fresh; next++)
			if ((uint64_t)ids[next] - (uint64_t)ids[next - 1] > MAX_GAP)
				break;
		r = load_run(owners, sum, ids + i, next - i);
	}
	return r;
}

int64_t store_owners_count_gone(struct store_owners *owners, const struct function_sum *sum,
				int64_t row, int64_t window)
{
	struct statement *read = owners->statements[READ_GONE];
	int64_t n = 0;
	int r;

	if (!sum->rows[row].is_gone)
		return 0;
	STATEMENT_BIND(read, window, sum->rows[row].id);
	r = statement_first(read, &n, 1);
	return r < 0 ? r : n;
}

/* Of the @n rows from @first on, whose processes are close together. A process that was removed
 * meanwhile remains unknown. */
static int name_run(struct store_owners *owners, struct function_sum *sum, size_t first, size_t n)
{
	struct statement *row = owners->statements[READ_PROCESSES];
	struct function_sum_row *rows = &sum->rows[first];
	int64_t index = 0;
	size_t at = 0;
	int r, q;

	STATEMENT_BIND(row, rows[0].id, rows[n - 1].id);
	while ((r = statement_step(row)) > 0) {
		struct profile_process process = process_of(row);
		int64_t id = statement_int(row, 0);

		while (at < n && rows[at].id < id)
			at++;
		if (at == n)
			break;
		if (id < rows[at].id)
			continue;
		process.n_gone = rows[at].n_gone;
		index = profile_add_process(sum->names, &process);
		if (index < 0)
			break;
		rows[at++].at.object = (uint32_t)index;
	}
	q = r == 0 ? 0 : statement_reset(row);
	return index < 0 ? (int)index : MIN(r, q);
}

int store_owners_name(struct store_owners *owners, struct function_sum *sum)
{
	const struct function_sum_row *rows = sum->rows;
	size_t end = MIN(sum->n_rows, sum->n_named + N_AT_ONCE);
	int r = 0;

	if (sum->by != SUM_PROCESS)
		return 0;
	for (size_t i = sum->n_named, next; r >= 0 && i < end; i = next) {
		next = i + 1;
		if (rows[i].kind != SUM_PROCESS || rows[i].id <= 0)
			continue;
		while (next < end && rows[next].kind == SUM_PROCESS &&
		       rows[next].id > rows[next - 1].id &&
		       rows[next].id - rows[next - 1].id <= MAX_GAP)
			next++;
		r = name_run(owners, sum, i, next - i);
	}
	sum->n_named = end;
	return r < 0 ? r : end < sum->n_rows;
}
