/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/file-check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/util/macro.h"

int file_check_note(struct database *database, int r, const char *where, struct problems *problems)
{
	struct fault fault;

	if (r >= 0)
		return 0;
	database_explain(database, r, &fault);
	if (r != -EBADMSG)
		return r;
	problems_add(problems, where, "%s", fault.text);
	return 0;
}

/* Calls @add for each row of a statement that is needed once. */
static int for_each_row(struct database *database, const char *sql,
			void (*add)(struct statement *row, struct problems *problems),
			struct problems *problems)
{
	struct statement *row;
	int r = database_prepare(database, &sql, 1, &row);

	while (r >= 0 && (r = statement_step(row)) > 0)
		add(row, problems);
	return r;
}

static void add_page(struct statement *row, struct problems *problems)
{
	const char *text = statement_text(row, 0) ?: "";

	/* the heading above what is wrong with a tree */
	if (strcmp(text, "ok") != 0 && strncmp(text, "*** in database", 15) != 0)
		problems_add(problems, "file", "%s", text);
	else if (strchr(text, '\n'))
		problems_add(problems, "file", "%s", strchr(text, '\n') + 1);
}

int file_check_pages(struct database *database, struct problems *problems)
{
	int r = for_each_row(database, "PRAGMA quick_check(50)", add_page, problems);

	return file_check_note(database, r, "file", problems);
}

static void add_reference(struct statement *row, struct problems *problems)
{
	char where[64];

	snprintf(where, sizeof(where), "table %s", statement_text(row, 0) ?: "?");
	problems_add(problems, where, "%" PRId64 " rows refer to rows of %s that are not there",
		     statement_int(row, 2), statement_text(row, 1) ?: "?");
}

int file_check_references(struct database *database, struct problems *problems)
{
	int r = for_each_row(database,
			     "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check "
			     "GROUP BY 1, 2",
			     add_reference, problems);

	return file_check_note(database, r, "references", problems);
}

#define LATER(table, column, parent)                                                          \
	"SELECT '" table "', '" parent "', count(*), min(a.id) FROM " table " a JOIN " parent \
	" b ON b.id = a." column " WHERE a.seen > b.seen HAVING count(*) > 0"
#define ALSO " UNION ALL "

static const char seen_sql[] = LATER("source", "mode", "string") ALSO LATER(
	"source", "event", "string") ALSO LATER("source", "hostname",
						"string") ALSO LATER("source", "os_release",
								     "string")
	ALSO LATER("source", "cpu", "string") ALSO LATER("process", "comm", "string") ALSO LATER(
		"process", "executable", "string") ALSO LATER("process", "unit", "string")
		ALSO LATER("function", "object", "object") ALSO LATER("place", "object", "object")
			ALSO LATER("place", "function", "function") ALSO LATER(
				"stack", "parent", "stack") ALSO LATER("stack", "place", "place")
				ALSO LATER("stream", "parent", "stream")
					ALSO LATER("stream", "origin", "place")
						ALSO LATER("stream", "target", "place");

static void add_later(struct statement *row, struct problems *problems)
{
	char where[64];

	snprintf(where, sizeof(where), "table %s", statement_text(row, 0) ?: "?");
	problems_add(problems, where,
		     "%" PRId64 " rows were seen later than what they refer to in %s, the first "
		     "is %" PRId64,
		     statement_int(row, 2), statement_text(row, 1) ?: "?", statement_int(row, 3));
}

#define NOT_BEFORE(table)                                                                     \
	"SELECT '" table "', count(*), min(id) FROM " table " WHERE parent >= id AND id > 0 " \
	"HAVING count(*) > 0"

static void add_parent(struct statement *row, struct problems *problems)
{
	char where[64];

	snprintf(where, sizeof(where), "table %s", statement_text(row, 0) ?: "?");
	problems_add(problems, where,
		     "%" PRId64 " rows do not come after their parents, the first is %" PRId64,
		     statement_int(row, 1), statement_int(row, 2));
}

int file_check_seen(struct database *database, struct problems *problems)
{
	int r = for_each_row(database, seen_sql, add_later, problems);

	if (r >= 0)
		r = for_each_row(database, NOT_BEFORE("stack") ALSO NOT_BEFORE("stream"),
				 add_parent, problems);
	return file_check_note(database, r, "names", problems);
}
