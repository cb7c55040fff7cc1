/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Databases of earlier versions whose conversion is interrupted, or that cannot be converted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "daemon/database/schema.h"
#include "tests/support/old-databases.h"
#include "tests/support/seeded-store.h"

/* Under sanitizers each kill takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define KILL_EVERY 10
#else
#define KILL_EVERY 1
#endif

static unsigned int n_statements_left;

static int count_statement(unsigned int event, void *userdata, void *statement, void *sql)
{
	if (n_statements_left-- == 0)
		raise(SIGKILL);
	return 0;
}

/* SQLite calls this for each database that is opened. */
static int trace_statements(sqlite3 *db, const char **error, const void *api)
{
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, count_statement, NULL);
}

/* Opens the database in a process that is killed before the statement after the first @n; false
 * where there were not as many. */
static bool open_and_kill(const char *path, unsigned int n)
{
	int status;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		n_statements_left = n;
		sqlite3_auto_extension((void (*)(void))trace_statements);
		store_free(temp_store_open(path, 0));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

/* A column and names that version 4 has, a column of version 6, a table of version 7, a column of
 * version 8 and a table of version 9. */
static void assert_all_or_nothing(const char *path, bool converted)
{
	assert_int_equal(number_in(path, "SELECT count(*) FROM pragma_table_info('stack_count') "
					 "WHERE name = 'folded'"),
			 !converted && old->version == 4);
	assert_int_equal(number_in(path, "SELECT count(*) FROM counter WHERE name LIKE 'seams%'"),
			 !converted && old->version == 4 ? 4 : 0);
	assert_int_equal(number_in(path, "SELECT count(*) FROM pragma_table_info('process') "
					 "WHERE name = 'restricted'"),
			 converted || old->version >= 6);
	assert_int_equal(number_in(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'mark'"),
			 converted || old->version >= 7);
	assert_int_equal(number_in(path, "SELECT count(*) FROM "
					 "pragma_table_info('function_counts') "
					 "WHERE name = 'processes'"),
			 converted || old->version >= 8);
	assert_int_equal(number_in(path, "SELECT count(*) FROM sqlite_schema WHERE "
					 "name = 'variance'"),
			 converted);
}

static void test_a_kill_at_any_statement(void **state)
{
	struct temp_store *stored = *state;
	unsigned int n_old = 0, n_converted = 0;
	struct store *store;
	bool killed = true;
	int64_t version;

	for (unsigned int n = 0; killed; n += KILL_EVERY) {
		make_old(stored->path, "");
		killed = open_and_kill(stored->path, n);
		version = number_in(stored->path, "PRAGMA user_version");
		assert_true(version == old->version || version == STORE_VERSION);
		n_old += version == old->version;
		n_converted += version == STORE_VERSION;
		assert_all_or_nothing(stored->path, version == STORE_VERSION);
		store = temp_store_open(stored->path, 0);
		assert_old_windows_are_there(store);
		store_free(store);
		temp_store_check(stored->path);
		temp_store_done(stored);
		temp_store_init(stored);
	}
	assert_true(n_old > old->n_statements / KILL_EVERY && n_converted > 3 / KILL_EVERY);
}

static void test_another_writer_puts_it_off(void **state)
{
	const struct store_settings settings = { 0 };
	struct temp_store *stored = *state;
	struct store *store = NULL;
	struct fault fault;
	char text[100];
	sqlite3 *db;

	make_old(stored->path, "");
	db = temp_store_connect(stored->path);
	temp_store_run(db, "BEGIN IMMEDIATE");
	assert_int_equal(store_open(&store, stored->path, &settings, &fault), -EBUSY);
	snprintf(text, sizeof(text), "; version %d could not be converted", (int)old->version);
	assert_non_null(strstr(fault.text, text));
	temp_store_run(db, "ROLLBACK");
	assert_int_equal(temp_store_number(db, "PRAGMA user_version"), old->version);
	sqlite3_close(db);
	store = temp_store_open(stored->path, 0);
	assert_old_windows_are_there(store);
	store_free(store);
}

/* The database as it was is found under another name; the store begins a new one. */
static void assert_moved_away(const struct temp_store *stored, const char *why, int64_t version)
{
	struct store *store = temp_store_open(stored->path, 0);
	struct store_status status = temp_store_status(store);
	char sql[100];

	assert_non_null(strstr(status.why_moved, why));
	assert_memory_equal(status.moved_to, stored->path, strlen(stored->path));
	assert_int_equal(status.n_windows, 0);
	assert_int_equal(add_seed(store, 1), 1);
	store_free(store);
	assert_int_equal(number_in(status.moved_to, "PRAGMA user_version"), version);
	assert_int_equal(number_in(status.moved_to, "SELECT count(*) FROM window"), N_OLD_WINDOWS);
	snprintf(sql, sizeof(sql), "SELECT sum(%s) FROM stack_count", old->pruned);
	number_in(status.moved_to, sql);
	assert_int_equal(unlink(stored->path), 0);
}

static void test_what_cannot_be_converted_stays_as_it_was(void **state)
{
	struct temp_store *stored = *state;

	make_old(stored->path, "DROP TABLE counter");
	assert_moved_away(stored, "no such table: counter", old->version);
}

static void test_other_versions_are_moved_away(void **state)
{
	struct temp_store *stored = *state;

	make_old(stored->path, "PRAGMA user_version = 3");
	assert_moved_away(stored, "version 3 ", 3);
	make_old(stored->path, "PRAGMA user_version = 10");
	assert_moved_away(stored, "version 10 ", 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_a_kill_at_any_statement),
		STORE_TEST(test_another_writer_puts_it_off),
		STORE_TEST(test_what_cannot_be_converted_stays_as_it_was),
		STORE_TEST(test_other_versions_are_moved_away),
	};
	int n_failed = 0;

	RUN_WITH_EACH_OLD(tests, n_failed);
	return n_failed;
}
