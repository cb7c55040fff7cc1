/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/marks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/util/macro.h"

enum {
	FIND_WRONG,
	REMOVE_WRONG,
	REMOVE_MORE,
	LIST,
	ADD,
	REMOVE,
	HAS_WINDOW,
	MEASURE,
	COUNT_ROWS,
	N_STATEMENTS,
};

/* What store_marks_add() refuses, and what read_mark() could not show. */
#define IS_WRONG                                                                             \
	"first < 1 OR last < first OR made_us < 0 OR uid < 0 OR uid > 4294967295 "           \
	"OR name NOT GLOB '[A-Za-z]*' OR name GLOB '*[^-A-Za-z0-9._]*' OR name GLOB '*..*' " \
	"OR length(name) > ?1 OR length(name) <> length(CAST(name AS BLOB))"

static const char *const sql[N_STATEMENTS] = {
	[FIND_WRONG] = "SELECT 1 WHERE EXISTS (SELECT 1 FROM mark WHERE " IS_WRONG ") "
		       "OR (SELECT count(*) FROM mark) > ?2",
	[REMOVE_WRONG] = "DELETE FROM mark WHERE " IS_WRONG,
	[REMOVE_MORE] = "DELETE FROM mark WHERE name > "
			"(SELECT name FROM mark ORDER BY name LIMIT 1 OFFSET ? - 1)",
	[LIST] = "SELECT name, first, last, made_us, uid FROM mark ORDER BY name LIMIT ?",
	[ADD] = "INSERT INTO mark (first, last, made_us, uid, name) VALUES (?, ?, ?, ?, ?)",
	[REMOVE] = "DELETE FROM mark WHERE name = ?",
	[HAS_WINDOW] = "SELECT 1 FROM window WHERE id = ?",
	[MEASURE] = "SELECT count(*), ifnull(sum(samples), 0), ifnull(sum(lost), 0), "
		    "ifnull(min(start_us), 0), ifnull(max(start_us + length_us), 0) "
		    "FROM window WHERE id >= ? AND id <= ?",
	[COUNT_ROWS] = "SELECT ifnull(sum(rows), 0) FROM user_rows WHERE window >= ? AND "
		       "window <= ?",
};

_Static_assert(N_STATEMENTS == N_STORE_MARKS, "marks.h has another number");

/*
 * Marks that no daemon made, in a database that is damaged or was written to by hand, would keep
 * windows and could be neither listed nor removed.
 */
static int remove_wrong(struct store_marks *marks)
{
	struct statement *find = marks->statements[FIND_WRONG];
	int r;

	STATEMENT_BIND(find, STORE_MARK_NAME_MAX, STORE_MAX_MARKS);
	r = statement_step(find);
	if (r <= 0)
		return r;
	r = statement_reset(find);
	STATEMENT_BIND(marks->statements[REMOVE_WRONG], STORE_MARK_NAME_MAX);
	if (r >= 0)
		r = statement_run(marks->statements[REMOVE_WRONG]);
	STATEMENT_BIND(marks->statements[REMOVE_MORE], STORE_MAX_MARKS);
	return r < 0 ? r : statement_run(marks->statements[REMOVE_MORE]);
}

static int read_marks(struct store_marks *marks)
{
	struct statement *row = marks->statements[LIST];
	int r;

	STATEMENT_BIND(row, STORE_MAX_MARKS);
	while ((r = statement_step(row)) > 0) {
		struct store_mark *mark = &marks->rows[marks->n++];

		*mark = (struct store_mark){
			.first = statement_int(row, 1),
			.last = statement_int(row, 2),
			.made_us = (uint64_t)statement_int(row, 3),
			.uid = (uint32_t)statement_int(row, 4),
		};
		snprintf(mark->name, sizeof(mark->name), "%s", statement_text(row, 0) ?: "");
	}
	return r;
}

int store_marks_init(struct store_marks *marks, struct database *database)
{
	int r;

	*marks = (struct store_marks){ .database = database };
	r = database_prepare(database, sql, N_STATEMENTS, marks->statements);
	if (r >= 0)
		r = remove_wrong(marks);
	return r < 0 ? r : read_marks(marks);
}

bool store_mark_name_is_valid(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
			  others[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789.-_";
	size_t n = strlen(name);

	return n > 0 && n <= STORE_MARK_NAME_MAX && strspn(name, letters) > 0 &&
	       strspn(name, others) == n && !strstr(name, "..");
}

const struct store_mark *store_marks_find(const struct store_marks *marks, const char *name)
{
	for (size_t i = 0; i < marks->n; i++)
		if (strcmp(marks->rows[i].name, name) == 0)
			return &marks->rows[i];
	return NULL;
}

bool store_marks_have(const struct store_marks *marks, int64_t window)
{
	for (size_t i = 0; i < marks->n; i++)
		if (marks->rows[i].first <= window && window <= marks->rows[i].last)
			return true;
	return false;
}

/* Reads the first @n columns of the only row. 1; 0: there is none; or -errno. */
static int ask(struct statement *row, uint64_t *ret, int n)
{
	int r = statement_step(row);

	if (r <= 0)
		return r;
	for (int i = 0; i < n; i++)
		ret[i] = (uint64_t)MAX(statement_int(row, i), 0);
	r = statement_reset(row);
	return r < 0 ? r : 1;
}

int store_marks_measure(struct store_marks *marks, const struct store_mark *mark,
			struct store_marked *ret)
{
	uint64_t columns[5] = { 0 }, n_rows = 0;
	int r;

	STATEMENT_BIND(marks->statements[MEASURE], mark->first, mark->last);
	r = ask(marks->statements[MEASURE], columns, ARRAY_SIZE(columns));
	STATEMENT_BIND(marks->statements[COUNT_ROWS], mark->first, mark->last);
	if (r >= 0)
		r = ask(marks->statements[COUNT_ROWS], &n_rows, 1);
	*ret = (struct store_marked){ columns[0], columns[1], columns[2],
				      columns[3], columns[4], n_rows };
	return MIN(r, 0);
}

/* Whether another mark may have the windows of @mark. */
static int check_room(struct store_marks *marks, const struct store_mark *mark, uint64_t max_bytes)
{
	uint64_t n_windows = 0, n_rows = 0, max_rows = STORE_MARKED_MAX_ROWS;
	struct store_marked marked;
	int r = store_marks_measure(marks, mark, &marked);

	for (size_t i = 0; r >= 0 && i < marks->n; i++) {
		n_windows += marked.n_windows;
		n_rows += marked.n_rows;
		r = store_marks_measure(marks, &marks->rows[i], &marked);
	}
	if (r < 0)
		return r;
	n_windows += marked.n_windows;
	n_rows += marked.n_rows;
	if (max_bytes > 0)
		max_rows = max_bytes / STORE_MARKED_SHARE / STORE_MARKED_ROW_BYTES;
	if (n_windows > STORE_MAX_MARKED_WINDOWS)
		return -EFBIG;
	return n_rows > max_rows ? -EDQUOT : 0;
}

static int check(struct store_marks *marks, const struct store_mark *mark, uint64_t max_bytes)
{
	const int64_t ends[] = { mark->first, mark->last };
	uint64_t one;
	int r = 1;

	if (store_marks_find(marks, mark->name))
		return -EEXIST;
	if (marks->n == STORE_MAX_MARKS)
		return -EMLINK;
	for (size_t i = 0; r > 0 && i < ARRAY_SIZE(ends); i++) {
		STATEMENT_BIND(marks->statements[HAS_WINDOW], ends[i]);
		r = ask(marks->statements[HAS_WINDOW], &one, 1);
	}
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	return check_room(marks, mark, max_bytes);
}

int store_marks_add(struct store_marks *marks, const struct store_mark *mark, uint64_t max_bytes)
{
	struct statement *add = marks->statements[ADD];
	size_t at = 0;
	int r = check(marks, mark, max_bytes);

	if (r < 0)
		return r;
	STATEMENT_BIND(add, mark->first, mark->last, (int64_t)mark->made_us, mark->uid);
	statement_bind_text(add, 5, mark->name);
	r = statement_run(add);
	if (r < 0)
		return r;
	while (at < marks->n && strcmp(marks->rows[at].name, mark->name) < 0)
		at++;
	memmove(&marks->rows[at + 1], &marks->rows[at], (marks->n - at) * sizeof(*marks->rows));
	marks->rows[at] = *mark;
	marks->n++;
	return 0;
}

int store_marks_remove(struct store_marks *marks, const char *name)
{
	const struct store_mark *mark = store_marks_find(marks, name);
	size_t at = (size_t)(mark - marks->rows);
	int r;

	if (!mark)
		return 0;
	statement_bind_text(marks->statements[REMOVE], 1, name);
	r = statement_run(marks->statements[REMOVE]);
	if (r < 0)
		return r;
	marks->n--;
	memmove(&marks->rows[at], &marks->rows[at + 1], (marks->n - at) * sizeof(*marks->rows));
	return 1;
}
