/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store's file among other programs, and when it is not as it should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "common/util/cleanup.h"
#include "daemon/store-file.h"
#include "daemon/store.h"
#include "tests/support/random-profile.h"
#include "tests/support/stored.h"

#define N_WINDOWS 10
#define N_DAMAGES 120

static int set_up(void **state)
{
	struct stored *stored = malloc(sizeof(*stored));

	assert_non_null(stored);
	stored_init(stored);
	*state = stored;
	return 0;
}

static int tear_down(void **state)
{
	stored_done(*state);
	free(*state);
	return 0;
}

static int64_t add_seed(struct store *store, uint64_t seed)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
	struct window window = stored_window(seed);

	return stored_add(store, &window, p);
}

/* -errno of adding, and why. */
static int try_to_add(struct store *store, uint64_t seed, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
	struct window window = stored_window(seed);
	int64_t id = -7;
	int r;

	*fault = (struct fault){ 0 };
	r = store_add(store, &window, p, &id, fault);
	assert_true(r == 0 ? id > 0 : id == -7 && *fault->text);
	return r;
}

static void assert_seed_is_back(struct store *store, int64_t id, uint64_t seed)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
	_cleanup_(profile_freep) struct profile *back = stored_read(store, id);

	assert_non_null(back);
	assert_true(profile_equal(p, back));
}

/* Windows 1 to N_WINDOWS, of these seeds. */
static void make_database(const char *path)
{
	_cleanup_(store_freep) struct store *store = stored_open(path, 0);

	for (uint64_t i = 1; i <= N_WINDOWS; i++)
		assert_int_equal(add_seed(store, i), i);
}

static void assert_all_are_there(struct store *store)
{
	for (uint64_t i = 1; i <= N_WINDOWS; i++)
		assert_seed_is_back(store, (int64_t)i, i);
}

static void write_file(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

static char *read_file(const char *path, size_t *ret_n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data;

	assert_true(fd >= 0);
	*ret_n = stored_file_bytes(path);
	data = malloc(*ret_n + 1);
	assert_non_null(data);
	assert_int_equal(read(fd, data, *ret_n), *ret_n);
	close(fd);
	return data;
}

static void test_the_file_is_not_for_everyone(void **state)
{
	struct stored *stored = *state;
	_cleanup_(store_freep) struct store *store = stored_open(stored->path, 0);
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
	struct stored *stored = *state;
	sqlite3 *db;
	char text[32];

	make_database(stored->path);
	db = stored_connect(stored->path);
	assert_int_equal(stored_number(db, "PRAGMA application_id"), STORE_APPLICATION_ID);
	assert_int_equal(stored_number(db, "PRAGMA user_version"), STORE_VERSION);
	assert_int_equal(stored_number(db, "PRAGMA auto_vacuum"), 2);
	stored_ask(db, "PRAGMA journal_mode", text, sizeof(text));
	assert_string_equal(text, "wal");
	sqlite3_close(db);
}

static void test_a_second_daemon_is_refused(void **state)
{
	struct stored *stored = *state;
	struct store *store = stored_open(stored->path, 0), *second = NULL;
	struct store_settings settings = { 0 };
	struct fault fault = { 0 };

	assert_int_equal(store_open(&second, stored->path, &settings, &fault), -EBUSY);
	assert_non_null(strstr(fault.text, "another branchd"));
	assert_null(second);
	store_free(store);
	store_free(stored_open(stored->path, 0));
}

static void test_a_place_where_no_database_can_be(void **state)
{
	struct stored *stored = *state;
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
	struct stored *stored = *state;
	sqlite3 *db;

	write_file(stored->path, "", 0);
	make_database(stored->path);
	assert_int_equal(unlink(stored->path), 0);
	write_file(stored->path, "", 0);
	db = stored_connect(stored->path);
	stored_run(db, "PRAGMA journal_mode = WAL; CREATE TABLE t (a); DROP TABLE t");
	sqlite3_close(db);
	make_database(stored->path);
	stored_check(stored->path);
}

/* Opens what is no store of ours: it is to be moved aside with its bytes as they are. */
static void assert_set_aside(const struct stored *stored, const char *why)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	_cleanup_(store_freep) struct store *store = NULL;
	struct store_status status;
	size_t n_before, n_after;

	before = read_file(stored->path, &n_before);
	store = stored_open(stored->path, 0);
	status = stored_status(store);
	assert_memory_equal(status.set_aside, stored->path, strlen(stored->path));
	assert_non_null(strstr(status.why_set_aside, why));
	after = read_file(status.set_aside, &n_after);
	assert_int_equal(n_before, n_after);
	assert_memory_equal(before, after, n_before);
	assert_int_equal(status.n_windows, 0);
	assert_seed_is_back(store, add_seed(store, 3), 3);
}

static void test_another_version_is_set_aside(void **state)
{
	struct stored *stored = *state;
	sqlite3 *db;

	/* more than once in a second, too */
	for (int i = 0; i < 3; i++) {
		make_database(stored->path);
		db = stored_connect(stored->path);
		stored_run(db, "PRAGMA user_version = 99");
		sqlite3_close(db);
		assert_set_aside(stored, "of version 99");
		assert_int_equal(unlink(stored->path), 0);
	}
}

static void test_another_application_is_set_aside(void **state)
{
	struct stored *stored = *state;
	sqlite3 *db;

	write_file(stored->path, "", 0);
	db = stored_connect(stored->path);
	stored_run(db, "CREATE TABLE dear (diary)");
	sqlite3_close(db);
	assert_set_aside(stored, "not a database of branchd");
}

static void test_what_is_no_database_is_set_aside(void **state)
{
	struct stored *stored = *state;
	char text[10000];

	memset(text, 'x', sizeof(text));
	write_file(stored->path, text, sizeof(text));
	assert_set_aside(stored, "damaged");
}

static void test_missing_tables_are_damage(void **state)
{
	struct stored *stored = *state;
	sqlite3 *db;

	make_database(stored->path);
	db = stored_connect(stored->path);
	stored_run(db, "DROP TABLE block_count");
	sqlite3_close(db);
	assert_set_aside(stored, "damaged");
}

static void test_the_log_goes_with_the_database(void **state)
{
	struct stored *stored = *state;
	struct store_status status;
	struct store *store;
	sqlite3 *db, *aside;

	make_database(stored->path);
	db = stored_connect(stored->path);
	stored_run(db, "PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 7;"
		       "DELETE FROM window WHERE id > 3");
	/* it has these open, and nothing of it is in the database yet */
	store = stored_open(stored->path, 0);
	status = stored_status(store);
	assert_string_not_equal(status.set_aside, "");
	store_free(store);
	aside = stored_connect(status.set_aside);
	assert_int_equal(stored_number(aside, "SELECT count(*) FROM window"), 3);
	assert_int_equal(stored_number(aside, "PRAGMA user_version"), 7);
	sqlite3_close(aside);
	sqlite3_close(db);
	stored_check(stored->path);
}

/* The file "PATH-wal" beside the database at @path. */
static char *read_log(const char *path, size_t *ret_n)
{
	char log[PATH_MAX + 8];

	snprintf(log, sizeof(log), "%s-wal", path);
	return read_file(log, ret_n);
}

static void write_log(const char *path, const char *data, size_t n)
{
	char log[PATH_MAX + 8];

	snprintf(log, sizeof(log), "%s-wal", path);
	write_file(log, data, n);
}

/* The log of a database that cannot be read may be what it can be mended from. */
static void test_damage_is_left_as_it_is(void **state)
{
	struct stored *stored = *state;
	_cleanup_free_ char *data = NULL, *log = NULL, *after = NULL;
	struct store_status status;
	struct store *store;
	size_t n_data, n_log, n_after;
	char copy[400];

	store = stored_open(stored->path, 0);
	for (uint64_t i = 1; i <= N_WINDOWS; i++)
		add_seed(store, i);
	data = read_file(stored->path, &n_data);
	log = read_log(stored->path, &n_log);
	assert_true(n_log > 100000);
	store_free(store);

	/* all that the log has not, so that not even the tables are known */
	memset(data + 4096, 0xee, n_data - 4096);
	snprintf(copy, sizeof(copy), "%s-copy", stored->path);
	write_file(copy, data, n_data);
	write_log(copy, log, n_log);
	store = stored_open(copy, 0);
	status = stored_status(store);
	store_free(store);
	assert_string_not_equal(status.set_aside, "");
	after = read_log(status.set_aside, &n_after);
	assert_int_equal(n_log, n_after);
	assert_memory_equal(log, after, n_log);
}

static void test_another_writer_is_waited_for_but_not_long(void **state)
{
	struct stored *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	struct fault fault;
	sqlite3 *db;

	make_database(stored->path);
	store = stored_open(stored->path, 0);
	db = stored_connect(stored->path);
	stored_run(db, "BEGIN IMMEDIATE");
	assert_int_equal(try_to_add(store, 50, &fault), -EBUSY);
	assert_non_null(strstr(fault.text, "another program keeps it locked"));
	assert_all_are_there(store);
	stored_run(db, "ROLLBACK");
	assert_int_equal(add_seed(store, 50), N_WINDOWS + 1);
	assert_seed_is_back(store, N_WINDOWS + 1, 50);
	sqlite3_close(db);
}

static void test_readers_and_the_writer_do_not_meet(void **state)
{
	struct stored *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	sqlite3 *db;

	make_database(stored->path);
	store = stored_open(stored->path, 0);
	db = stored_connect(stored->path);
	stored_run(db, "BEGIN");
	assert_int_equal(stored_number(db, "SELECT count(*) FROM window"), N_WINDOWS);
	for (uint64_t i = 1; i <= 5; i++)
		add_seed(store, i);
	assert_int_equal(stored_number(db, "SELECT count(*) FROM window"), N_WINDOWS);
	stored_run(db, "COMMIT");
	assert_int_equal(stored_number(db, "SELECT count(*) FROM window"), N_WINDOWS + 5);
	sqlite3_close(db);
}

static void test_a_reader_for_ever_does_not_fill_the_disk(void **state)
{
	_cleanup_(store_freep) struct store *store = NULL;
	struct stored stored;
	struct fault fault;
	sqlite3 *db;
	int r = 0;

	stored_init_in(&stored, "/tmp"); /* this one is large */
	make_database(stored.path);
	store = stored_open(stored.path, 1 << 20);
	db = stored_connect(stored.path);
	stored_run(db, "BEGIN");
	stored_number(db, "SELECT count(*) FROM window");
	for (uint64_t i = 0; r == 0 && i < 100000; i++)
		r = try_to_add(store, i, &fault);
	assert_int_equal(r, -ENOSPC);
	assert_non_null(strstr(fault.text, "another program has been reading"));
	assert_true(stored_status(store).n_bytes < 70 << 20);
	stored_run(db, "COMMIT");
	sqlite3_close(db);
	/* it goes on when that one has gone */
	add_seed(store, 1);
	assert_true(stored_status(store).n_bytes < 20 << 20);
	store = store_free(store);
	stored_done(&stored);
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
	struct stored *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	struct fault fault;
	char log[400];
	int64_t last = 0;

	signal(SIGXFSZ, SIG_IGN);
	make_database(stored->path);
	store = stored_open(stored->path, 0);
	snprintf(log, sizeof(log), "%s-wal", stored->path);
	for (uint64_t i = 0; i < 10; i++) { /* more, and the log is begun anew */
		uint64_t seed = 100 + i;

		limit_files(stored_file_bytes(log) + 1 + i * 6000);
		assert_true(try_to_add(store, seed, &fault) < 0);
		assert_non_null(strstr(fault.text, stored->path));
		assert_all_are_there(store);
		limit_files(0);
		last = add_seed(store, seed);
		assert_int_equal(last, N_WINDOWS + 1 + i);
		assert_seed_is_back(store, last, seed);
	}
	store = store_free(store);
	stored_check(stored->path);
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

static void assert_begun_anew(const struct stored *stored, bool all)
{
	struct store *store = stored_open(stored->path, 0), *second = NULL;
	struct store_settings settings = { 0 };
	struct fault fault = { 0 };

	assert_int_equal(add_seed(store, 1), 1);
	assert_int_equal(add_seed(store, 2), 2);
	assert_false(stored_status(store).removed);
	remove_files(stored->path, all);
	assert_int_equal(add_seed(store, 3), 1);
	assert_int_equal(add_seed(store, 4), 2);
	assert_true(stored_status(store).removed);
	assert_int_equal(stored_status(store).n_windows, 2);
	assert_int_equal(store_open(&second, stored->path, &settings, &fault), -EBUSY);
	store_free(store);
	store = stored_open(stored->path, 0);
	assert_seed_is_back(store, 1, 3);
	assert_seed_is_back(store, 2, 4);
	store_free(store);
	stored_check(stored->path);
	remove_files(stored->path, false);
}

static void test_a_removed_database_is_made_anew(void **state)
{
	assert_begun_anew(*state, true);
	assert_begun_anew(*state, false);
}

static void test_another_database_in_its_place_is_used(void **state)
{
	struct stored *stored = *state;
	_cleanup_(store_freep) struct store *store = stored_open(stored->path, 0);
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
	struct stored *stored = *state;
	_cleanup_(store_freep) struct store *store = stored_open(stored->path, 0);
	struct fault fault;

	add_seed(store, 1);
	stored_done(stored);
	assert_int_equal(try_to_add(store, 2, &fault), -ENOENT);
	assert_int_equal(try_to_add(store, 2, &fault), -ENOENT);
	assert_int_equal(mkdir(stored->folder, 0700), 0);
	assert_int_equal(add_seed(store, 2), 1);
	assert_seed_is_back(store, 1, 2);
}

static void test_damage_found_while_writing(void **state)
{
	struct stored *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	_cleanup_free_ char *data = NULL;
	struct store_status status;
	sqlite3 *db;
	char name[100];
	size_t n;

	make_database(stored->path);
	db = stored_connect(stored->path);
	stored_ask(db, "SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = 'stack_count'",
		   name, sizeof(name));
	sqlite3_close(db);
	data = read_file(stored->path, &n);
	memset(data + atoll(name), 0xee, 4096);
	write_file(stored->path, data, n);

	store = stored_open(stored->path, 0);
	assert_string_equal(stored_status(store).set_aside, "");
	assert_int_equal(stored_status(store).n_windows, N_WINDOWS);
	assert_int_equal(add_seed(store, 9), 1);
	assert_seed_is_back(store, 1, 9);
	status = stored_status(store);
	assert_int_equal(status.n_windows, 1);
	assert_non_null(strstr(status.why_set_aside, "damaged"));
	assert_true(stored_file_bytes(status.set_aside) == n);
}

static void try_to_read(struct store *store, int64_t id)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct fault fault = { 0 };
	int r;

	r = store_read(store, id, &p, NULL, &fault);
	assert_true(r == 0 ? !p : r > 0 ? p != NULL : !p && *fault.text);
}

/*
 * What comes of a damaged database: no crash, and windows can be added. Whether it is noticed depends:
 * SQLite's pages have no checksums.
 */
static void use_damaged(const char *path)
{
	_cleanup_(store_freep) struct store *store = stored_open(path, 1 << 20);

	for (int64_t i = 1; i <= N_WINDOWS; i++)
		try_to_read(store, i);
	for (uint64_t i = 1; i <= 3; i++)
		try_to_read(store, add_seed(store, i));
}

static void test_damage_anywhere(void **state)
{
	struct stored *stored = *state;
	_cleanup_free_ char *data = NULL, *damaged = NULL;
	uint64_t random = 1;
	char command[700];
	size_t n;

	make_database(stored->path);
	data = read_file(stored->path, &n);
	damaged = malloc(n);
	assert_non_null(damaged);
	for (int i = 0; i < N_DAMAGES; i++) {
		uint32_t n_bytes = 1 + random_below(&random, i % 3 == 0 ? 4096 : 4), at;

		memcpy(damaged, data, n);
		at = random_below(&random, (uint32_t)n - n_bytes);
		for (uint32_t k = 0; k < n_bytes; k++)
			damaged[at + k] = (char)random_next(&random);
		write_file(stored->path, damaged, i % 7 == 0 ? at : n);
		use_damaged(stored->path);
		snprintf(command, sizeof(command), "rm -f '%s'*", stored->path);
		assert_int_equal(system(command), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_file_is_not_for_everyone),
		TEST(test_it_says_what_it_is),
		TEST(test_a_second_daemon_is_refused),
		TEST(test_a_place_where_no_database_can_be),
		TEST(test_empty_files_are_used),
		TEST(test_another_version_is_set_aside),
		TEST(test_another_application_is_set_aside),
		TEST(test_what_is_no_database_is_set_aside),
		TEST(test_missing_tables_are_damage),
		TEST(test_the_log_goes_with_the_database),
		TEST(test_damage_is_left_as_it_is),
		TEST(test_another_writer_is_waited_for_but_not_long),
		TEST(test_readers_and_the_writer_do_not_meet),
		TEST(test_a_reader_for_ever_does_not_fill_the_disk),
		TEST(test_where_nothing_can_be_written),
		TEST(test_a_removed_database_is_made_anew),
		TEST(test_another_database_in_its_place_is_used),
		TEST(test_a_removed_folder),
		TEST(test_damage_found_while_writing),
		TEST(test_damage_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
