/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/retention/gone.h"

#include <errno.h>
#include <signal.h>

enum {
	NEXT_WINDOW,
	FIND_PROCESS,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[NEXT_WINDOW] = "SELECT id FROM window WHERE id > ? ORDER BY id LIMIT 1",
	[FIND_PROCESS] = "SELECT 1 FROM process_count WHERE window = ? AND process = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_GONE, "gone.h has another number");

/* A number that is in use again counts as the process that had it; it is asked for again when the
 * sum is merged. */
static bool is_in_use(int32_t pid)
{
	return kill(pid, 0) == 0 || errno != ESRCH;
}

int store_gone_init(struct store_gone *gone, struct database *database)
{
	gone->database = database;
	return database_prepare(database, sql, N_STATEMENTS, gone->statements);
}

int store_gone_begin(struct store_gone *gone, int64_t last)
{
	int r;

	STATEMENT_BIND(gone->statements[NEXT_WINDOW], last);
	gone->next = 0;
	r = statement_first(gone->statements[NEXT_WINDOW], &gone->next, 1);
	return r < 0 ? r : 0;
}

int store_gone_prepare(struct store_gone *gone, struct store_batch *batch)
{
	if (batch->merged_to == 0)
		return 0;
	batch->is_gone = store_gone_ask;
	batch->userdata = gone;
	return store_gone_begin(gone, batch->merged_to);
}

int store_gone_ask(int64_t process, int32_t pid, void *userdata)
{
	struct store_gone *gone = userdata;
	int64_t found;
	int r;

	if (pid <= 0 || (gone->is_alive ?: is_in_use)(pid))
		return 0;
	STATEMENT_BIND(gone->statements[FIND_PROCESS], gone->next, process);
	r = statement_first(gone->statements[FIND_PROCESS], &found, 1);
	return r < 0 ? r : r == 0;
}
