/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store's file among other programs, and where it cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "common/util/cleanup.h"
#include "daemon/database/schema.h"
#include "daemon/store/store.h"
#include "tests/support/seeded-store.h"

static void test_the_file_is_not_for_everyone(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	static const char *const parts[] = { "", "-wal", "-shm", "-lock" };
	char path[400];
	struct stat st;

	add_seed(store, 1);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		snprintf(path, sizeof(path), "%s%s", stored->path, parts[i]);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0027, 0);
	}
}

static void test_it_says_what_it_is(void **state)
{
	struct temp_store *stored = *state;
	sqlite3 *db;
	char text[32];

	make_database(stored->path);
	db = temp_store_connect(stored->path);
	assert_int_equal(temp_store_number(db, "PRAGMA application_id"), STORE_APPLICATION_ID);
	assert_int_equal(temp_store_number(db, "PRAGMA user_version"), STORE_VERSION);
	assert_int_equal(temp_store_number(db, "PRAGMA auto_vacuum"), 2);
	temp_store_ask(db, "PRAGMA journal_mode", text, sizeof(text));
	assert_string_equal(text, "wal");
	sqlite3_close(db);
}

static void test_a_second_daemon_is_refused(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0), *second = NULL;
	struct store_settings settings = { 0 };
	struct fault fault = { 0 };

	assert_int_equal(store_open(&second, stored->path, &settings, &fault), -EBUSY);
	assert_non_null(strstr(fault.text, "another branchd"));
	assert_null(second);
	store_free(store);
	store_free(temp_store_open(stored->path, 0));
}

static void test_a_place_where_no_database_can_be(void **state)
{
	struct temp_store *stored = *state;
	struct store_settings settings = { 0 };
	struct store *store = NULL;
	struct fault fault = { 0 };
	char path[400];

	snprintf(path, sizeof(path), "%s/none/branchd.db", stored->folder);
	assert_int_equal(store_open(&store, path, &settings, &fault), -ENOENT);
	assert_non_null(strstr(fault.text, path));
	assert_int_equal(mkdir(stored->path, 0700), 0);
	assert_int_equal(store_open(&store, stored->path, &settings, &fault), -EISDIR);
	assert_non_null(strstr(fault.text, stored->path));
	assert_null(store);
}

static void test_empty_files_are_used(void **state)
{
	struct temp_store *stored = *state;
	sqlite3 *db;

	write_file(stored->path, "", 0);
	make_database(stored->path);
	assert_int_equal(unlink(stored->path), 0);
	write_file(stored->path, "", 0);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t");
	sqlite3_close(db);
	make_database(stored->path);
	temp_store_check(stored->path);
}

/* Opens what is no store of ours: it is to be renamed with its bytes as they are. */
static void assert_moved_away(const struct temp_store *stored, const char *why)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	_cleanup_(store_freep) struct store *store = NULL;
	struct store_status status;
	size_t n_before, n_after;

	before = read_file(stored->path, &n_before);
	store = temp_store_open(stored->path, 0);
	status = temp_store_status(store);
	assert_memory_equal(status.moved_to, stored->path, strlen(stored->path));
	assert_non_null(strstr(status.why_moved, why));
	after = read_file(status.moved_to, &n_after);
	assert_int_equal(n_before, n_after);
	assert_memory_equal(before, after, n_before);
	assert_int_equal(status.n_windows, 0);
	assert_seed_is_back(store, add_seed(store, 3), 3);
}

static void test_another_version_is_moved_away(void **state)
{
	struct temp_store *stored = *state;
	sqlite3 *db;

	/* more than once in a second, too */
	for (int i = 0; i < 3; i++) {
		make_database(stored->path);
		db = temp_store_connect(stored->path);
		temp_store_run(db, "PRAGMA user_version = 99");
		sqlite3_close(db);
		assert_moved_away(stored, "version 99 of the database");
		assert_int_equal(unlink(stored->path), 0);
	}
}

static void test_another_application_is_moved_away(void **state)
{
	struct temp_store *stored = *state;
	sqlite3 *db;

	write_file(stored->path, "", 0);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "CREATE TABLE dear (diary)");
	sqlite3_close(db);
	assert_moved_away(stored, "not a database of branchd");
}

static void test_what_is_no_database_is_moved_away(void **state)
{
	struct temp_store *stored = *state;
	char text[10000];

	memset(text, 'x', sizeof(text));
	write_file(stored->path, text, sizeof(text));
	assert_moved_away(stored, "damaged");
}

static void test_missing_tables_are_damage(void **state)
{
	struct temp_store *stored = *state;
	sqlite3 *db;

	make_database(stored->path);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "DROP TABLE block_count");
	sqlite3_close(db);
	assert_moved_away(stored, "damaged");
}

static void test_the_log_goes_with_the_database(void **state)
{
	struct temp_store *stored = *state;
	struct store_status status;
	struct store *store;
	sqlite3 *db, *renamed;

	make_database(stored->path);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99;"
			   "DELETE FROM window WHERE id > 3");
	/* it has these open, and nothing of it is in the database yet */
	store = temp_store_open(stored->path, 0);
	status = temp_store_status(store);
	assert_string_not_equal(status.moved_to, "");
	store_free(store);
	renamed = temp_store_connect(status.moved_to);
	assert_int_equal(temp_store_number(renamed, "SELECT count(*) FROM window"), 3);
	assert_int_equal(temp_store_number(renamed, "PRAGMA user_version"), 99);
	sqlite3_close(renamed);
	sqlite3_close(db);
	temp_store_check(stored->path);
}

static void test_another_writer_is_waited_for_but_not_long(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	struct fault fault;
	sqlite3 *db;

	make_database(stored->path);
	store = temp_store_open(stored->path, 0);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "BEGIN IMMEDIATE");
	assert_int_equal(try_to_add(store, 50, &fault), -EBUSY);
	assert_non_null(strstr(fault.text, "another program keeps it locked"));
	assert_all_are_there(store);
	temp_store_run(db, "ROLLBACK");
	assert_int_equal(add_seed(store, 50), N_WINDOWS + 1);
	assert_seed_is_back(store, N_WINDOWS + 1, 50);
	sqlite3_close(db);
}

static void test_readers_and_the_writer_do_not_meet(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	sqlite3 *db;

	make_database(stored->path);
	store = temp_store_open(stored->path, 0);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "BEGIN");
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM window"), N_WINDOWS);
	for (uint64_t i = 1; i <= 5; i++)
		add_seed(store, i);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM window"), N_WINDOWS);
	temp_store_run(db, "COMMIT");
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM window"), N_WINDOWS + 5);
	sqlite3_close(db);
}

static void test_a_reader_for_ever_does_not_fill_the_disk(void **state)
{
	_cleanup_(store_freep) struct store *store = NULL;
	struct temp_store stored;
	struct fault fault;
	sqlite3 *db;
	int r = 0;

	temp_store_init_in(&stored, "/tmp"); /* this one is large */
	make_database(stored.path);
	store = temp_store_open(stored.path, 1 << 20);
	db = temp_store_connect(stored.path);
	temp_store_run(db, "BEGIN");
	temp_store_number(db, "SELECT count(*) FROM window");
	for (uint64_t i = 0; r == 0 && i < 100000; i++)
		r = try_to_add(store, i, &fault);
	assert_int_equal(r, -ENOSPC);
	assert_non_null(strstr(fault.text, "another program has been reading"));
	assert_true(temp_store_status(store).n_bytes < 70 << 20);
	temp_store_run(db, "COMMIT");
	sqlite3_close(db);
	/* it goes on when that one has gone, once the log is copied */
	for (int i = 0; i < 3000 && r == -ENOSPC; i++) {
		r = try_to_add(store, 1, &fault);
		usleep(10000);
	}
	assert_int_equal(r, 0);
	assert_true(temp_store_status(store).n_bytes < 20 << 20);
	store = store_free(store);
	temp_store_done(&stored);
}

static void limit_files(uint64_t n_bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = n_bytes == 0 ? limit.rlim_max : n_bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A limit of the size of files is what a full disk is, without being root. */
static void test_where_nothing_can_be_written(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	struct fault fault;
	char log[400];
	int64_t last = 0;

	signal(SIGXFSZ, SIG_IGN);
	make_database(stored->path);
	store = temp_store_open(stored->path, 0);
	snprintf(log, sizeof(log), "%s-wal", stored->path);
	for (uint64_t i = 0; i < 10; i++) { /* more, and the log is begun anew */
		uint64_t seed = 100 + i;

		limit_files(temp_store_file_bytes(log) + 1 + i * 6000);
		assert_true(try_to_add(store, seed, &fault) < 0);
		assert_non_null(strstr(fault.text, stored->path));
		assert_all_are_there(store);
		limit_files(0);
		last = add_seed(store, seed);
		assert_int_equal(last, N_WINDOWS + 1 + i);
		assert_seed_is_back(store, last, seed);
	}
	store = store_free(store);
	temp_store_check(stored->path);
}

static void remove_files(const char *path, bool all)
{
	static const char *const parts[] = { "", "-wal", "-shm", "-lock" };
	char part[400];

	for (size_t i = 0; i < (all ? ARRAY_SIZE(parts) : 1); i++) {
		snprintf(part, sizeof(part), "%s%s", path, parts[i]);
		assert_int_equal(unlink(part), 0);
	}
}

static void assert_begun_anew(const struct temp_store *stored, bool all)
{
	struct store *store = temp_store_open(stored->path, 0), *second = NULL;
	struct store_settings settings = { 0 };
	struct fault fault = { 0 };

	assert_int_equal(add_seed(store, 1), 1);
	assert_int_equal(add_seed(store, 2), 2);
	assert_false(temp_store_status(store).removed);
	remove_files(stored->path, all);
	/* no id is given twice */
	assert_int_equal(add_seed(store, 3), 3);
	assert_int_equal(add_seed(store, 4), 4);
	assert_true(temp_store_status(store).removed);
	assert_int_equal(temp_store_status(store).n_windows, 2);
	assert_int_equal(store_open(&second, stored->path, &settings, &fault), -EBUSY);
	store_free(store);
	store = temp_store_open(stored->path, 0);
	assert_seed_is_back(store, 3, 3);
	assert_seed_is_back(store, 4, 4);
	store_free(store);
	temp_store_check(stored->path);
	remove_files(stored->path, false);
}

static void test_a_removed_database_is_made_anew(void **state)
{
	assert_begun_anew(*state, true);
	assert_begun_anew(*state, false);
}

static void test_another_database_in_its_place_is_used(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	char other[400];

	add_seed(store, 50);
	snprintf(other, sizeof(other), "%s.other", stored->path);
	make_database(other);
	remove_files(stored->path, true);
	assert_int_equal(rename(other, stored->path), 0);
	assert_int_equal(add_seed(store, 51), N_WINDOWS + 1);
	assert_all_are_there(store);
	assert_seed_is_back(store, N_WINDOWS + 1, 51);
}

/* It is tried again until there is a place for one. */
static void test_a_removed_folder(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	struct fault fault;

	add_seed(store, 1);
	temp_store_done(stored);
	assert_int_equal(try_to_add(store, 2, &fault), -ENOENT);
	assert_int_equal(try_to_add(store, 2, &fault), -ENOENT);
	assert_int_equal(mkdir(stored->folder, 0700), 0);
	assert_int_equal(add_seed(store, 2), 2);
	assert_seed_is_back(store, 2, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_the_file_is_not_for_everyone),
		STORE_TEST(test_it_says_what_it_is),
		STORE_TEST(test_a_second_daemon_is_refused),
		STORE_TEST(test_a_place_where_no_database_can_be),
		STORE_TEST(test_empty_files_are_used),
		STORE_TEST(test_another_version_is_moved_away),
		STORE_TEST(test_another_application_is_moved_away),
		STORE_TEST(test_what_is_no_database_is_moved_away),
		STORE_TEST(test_missing_tables_are_damage),
		STORE_TEST(test_the_log_goes_with_the_database),
		STORE_TEST(test_another_writer_is_waited_for_but_not_long),
		STORE_TEST(test_readers_and_the_writer_do_not_meet),
		STORE_TEST(test_a_reader_for_ever_does_not_fill_the_disk),
		STORE_TEST(test_where_nothing_can_be_written),
		STORE_TEST(test_a_removed_database_is_made_anew),
		STORE_TEST(test_another_database_in_its_place_is_used),
		STORE_TEST(test_a_removed_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
