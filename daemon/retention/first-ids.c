/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/first-ids.h"

#include "common/util/macro.h"

enum {
	ADD,
	LOWER,
	FIND_WINDOW,
	FIND_LEAST,
	FIND_LAST,
	FOLD,
	REMOVE,
	FIND_NEWEST,
	SET_NEWEST,
	N_STATEMENTS,
};

#define COLUMNS "stack, stream, process, place, function, object, string"

/* The largest id of a table, and of each. */
#define LAST(table) "ifnull((SELECT max(id) FROM " table "), 0)"
#define LAST_IDS                                                                    \
	"SELECT " LAST("stack") ", " LAST("stream") ", " LAST("process") ", " LAST( \
		"place") ", " LAST("function") ", " LAST("object") ", " LAST("string")

/* The less of what is noted and of the columns of @other. */
#define LEAST_IDS(other)                                                                           \
	"SELECT min(window_first.stack, " other ".stack), min(window_first.stream, " other         \
	".stream), min(window_first.process, " other ".process), min(window_first.place, " other   \
	".place), min(window_first.function, " other ".function), min(window_first.object, " other \
	".object), min(window_first.string, " other ".string) "

#define LOWER_BY_IDS                                                                  \
	"WITH last (" COLUMNS ") AS (" LAST_IDS ") UPDATE window_first SET (" COLUMNS \
	") = (" LEAST_IDS(                                                            \
		"last") "FROM last) WHERE window = (SELECT max(window) FROM window_first)"

#define FOLD_INTO_FORMER                                                                          \
	"UPDATE window_first SET (" COLUMNS ") = (" LEAST_IDS(                                    \
		"w") "FROM window_first w "                                                       \
		     "WHERE w.window = ?1) WHERE window = (SELECT max(window) FROM window_first " \
		     "WHERE window < ?1) AND EXISTS (SELECT 1 FROM window_first WHERE window = "  \
		     "?1)"

static const char *const sql[N_STATEMENTS] = {
	[ADD] = "INSERT INTO window_first (" COLUMNS ", window) " LAST_IDS ", ?",
	[LOWER] = LOWER_BY_IDS,
	[FIND_WINDOW] = "SELECT ifnull(max(window), ?1) FROM window_first WHERE window <= ?1",
	/* where there is none, no row */
	[FIND_LEAST] = "SELECT min(stack), min(stream), min(process), min(place), min(function), "
		       "min(object), min(string) FROM window_first WHERE window >= ? "
		       "GROUP BY NULL",
	[FIND_LAST] = LAST_IDS,
	[FOLD] = FOLD_INTO_FORMER,
	[REMOVE] = "DELETE FROM window_first WHERE window = ?",
	/* the window with which the last row came, if it is there */
	[FIND_NEWEST] = "SELECT ifnull(max(window), 0) FROM window_first WHERE object < ? OR "
			"function < ? OR place < ? OR stack < ? OR stream < ?",
	[SET_NEWEST] = "UPDATE window SET newest = max(newest, ?) WHERE id = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_FIRST_IDS, "first-ids.h has another number");

int store_first_ids_init(struct store_first_ids *ids, struct database *database)
{
	*ids = (struct store_first_ids){ .database = database };
	return database_prepare(database, sql, N_STATEMENTS, ids->statements);
}

int store_first_ids_begin_window(struct store_first_ids *ids, int64_t window)
{
	STATEMENT_BIND(ids->statements[ADD], window);
	return statement_run(ids->statements[ADD]);
}

int store_first_ids_begin_sum(struct store_first_ids *ids)
{
	return statement_run(ids->statements[LOWER]);
}

int store_first_ids_find_window(struct store_first_ids *ids, int64_t window, int64_t *ret)
{
	int r;

	STATEMENT_BIND(ids->statements[FIND_WINDOW], window);
	r = statement_first(ids->statements[FIND_WINDOW], ret, 1);
	return MIN(r, 0);
}

int store_first_ids_find(struct store_first_ids *ids, int64_t window, int64_t ret[N_ROW_KINDS])
{
	STATEMENT_BIND(ids->statements[FIND_LEAST], window);
	return statement_first(ids->statements[FIND_LEAST], ret, N_ROW_KINDS);
}

int store_first_ids_find_last(struct store_first_ids *ids, int64_t ret[N_ROW_KINDS])
{
	int r = statement_first(ids->statements[FIND_LAST], ret, N_ROW_KINDS);

	return MIN(r, 0);
}

int store_first_ids_remove(struct store_first_ids *ids, int64_t window)
{
	int r;

	STATEMENT_BIND(ids->statements[FOLD], window);
	r = statement_run(ids->statements[FOLD]);
	if (r < 0)
		return r;
	STATEMENT_BIND(ids->statements[REMOVE], window);
	return statement_run(ids->statements[REMOVE]);
}

int store_first_ids_note_newest(struct store_first_ids *ids, const struct store_intern *intern,
				int64_t window, int64_t at_least)
{
	const int64_t *largest = intern->largest;
	int64_t newest = 0;
	int r;

	STATEMENT_BIND(ids->statements[FIND_NEWEST], largest[INTERNED_OBJECT],
		       largest[INTERNED_FUNCTION], largest[INTERNED_PLACE], largest[INTERNED_STACK],
		       largest[INTERNED_STREAM]);
	r = statement_first(ids->statements[FIND_NEWEST], &newest, 1);
	if (r < 0)
		return r;
	STATEMENT_BIND(ids->statements[SET_NEWEST], MAX(newest, at_least), window);
	return statement_run(ids->statements[SET_NEWEST]);
}
