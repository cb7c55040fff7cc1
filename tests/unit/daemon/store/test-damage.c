/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store's file where it is damaged: nothing is lost that could be mended, and windows can be
 * added. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "tests/support/seeded-store.h"

#define N_DAMAGES 120

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
	struct temp_store *stored = *state;
	_cleanup_free_ char *data = NULL, *log = NULL, *after = NULL;
	struct store_status status;
	struct store *store;
	size_t n_data, n_log, n_after;
	char copy[400];

	store = temp_store_open(stored->path, 0);
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
	store = temp_store_open(copy, 0);
	status = temp_store_status(store);
	store_free(store);
	assert_string_not_equal(status.moved_to, "");
	after = read_log(status.moved_to, &n_after);
	assert_int_equal(n_log, n_after);
	assert_memory_equal(log, after, n_log);
}

/* Overwrites the first page of a table of the database that nobody has open; its size. */
static size_t damage_table(const char *path, const char *table)
{
	_cleanup_free_ char *data = NULL;
	sqlite3 *db = temp_store_connect(path);
	char sql[200], offset[100];
	size_t n;

	snprintf(sql, sizeof(sql),
		 "SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = '%s'", table);
	temp_store_ask(db, sql, offset, sizeof(offset));
	sqlite3_close(db);
	data = read_file(path, &n);
	memset(data + atoll(offset), 0xee, 4096);
	write_file(path, data, n);
	return n;
}

static uint64_t passed_us; /* more than really */

static uint64_t later(void)
{
	return clock_us(CLOCK_BOOTTIME) + passed_us;
}

/* A store with a page of a table damaged. */
static struct store *open_damaged(const char *path, const char *table)
{
	struct store *store;

	make_database(path);
	damage_table(path, table);
	store = temp_store_open(path, 0);
	passed_us = 0;
	store_set_clock(store, later);
	assert_string_equal(temp_store_status(store).moved_to, "");
	return store;
}

/* Behind the back of a store that has it open. */
static void change(const char *path, const char *sql)
{
	sqlite3 *db = temp_store_connect(path);

	temp_store_run(db, sql);
	sqlite3_close(db);
}

static int try_to_list(struct store *store, size_t *ret_n);

/* A new one is in use, and it works. */
static void assert_healed(struct store *store, uint64_t n_moved)
{
	struct store_status status = temp_store_status(store);
	size_t n;

	assert_int_equal(status.n_moved, n_moved);
	assert_string_equal(status.damage, "");
	assert_non_null(strstr(status.why_moved, "damaged"));
	assert_true(temp_store_file_bytes(status.moved_to) > 0);
	assert_int_equal(try_to_list(store, &n), 0);
	assert_int_equal(n, 0);
	/* no id is given twice, lest a caller takes one window for another */
	assert_seed_is_back(store, add_seed(store, 9), 9);
}

static void test_damage_found_while_writing(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	struct store_status status;
	size_t n;

	make_database(stored->path);
	n = damage_table(stored->path, "stack_count");
	store = temp_store_open(stored->path, 0);
	assert_string_equal(temp_store_status(store).moved_to, "");
	assert_int_equal(temp_store_status(store).n_windows, N_WINDOWS);
	assert_seed_is_back(store, add_seed(store, 9), 9);
	status = temp_store_status(store);
	assert_int_equal(status.n_windows, 1);
	assert_non_null(strstr(status.why_moved, "damaged"));
	assert_true(temp_store_file_bytes(status.moved_to) == n);
}

static int count_window(const struct window *window, void *userdata)
{
	assert_true(window->id > 0);
	++*(size_t *)userdata;
	return 0;
}

static int try_to_list(struct store *store, size_t *ret_n)
{
	struct fault fault = { 0 };

	*ret_n = 0;
	return store_for_each(store, 0, UINT64_MAX, count_window, ret_n, &fault);
}

static void test_damage_found_by_a_list(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	size_t n;

	make_database(stored->path);
	store = temp_store_open(stored->path, 0);
	assert_int_equal(try_to_list(store, &n), 0);
	assert_int_equal(n, N_WINDOWS);
	change(stored->path, "DROP TABLE window");
	assert_int_equal(try_to_list(store, &n), 0);
	assert_int_equal(n, 0);
	assert_healed(store, 1);
}

static void test_damage_found_by_reading_a_window(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = open_damaged(stored->path, "stack_count");

	assert_null(temp_store_read(store, 3));
	assert_healed(store, 1);
}

static void test_rows_that_do_not_fit(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;

	make_database(stored->path);
	store = temp_store_open(stored->path, 0);
	change(stored->path, "DELETE FROM place");
	assert_null(temp_store_read(store, 3));
	assert_healed(store, 1);
}

static int try_to_read_functions(struct store *store, int64_t id)
{
	_cleanup_(function_sum_freep) struct function_sum *sum = NULL;
	struct profile_filter filter = PROFILE_FILTER_INIT;
	struct window window = { .id = id };
	struct fault fault = { 0 };

	assert_int_equal(function_sum_new(&sum), 0);
	return store_read_functions(store, &window, &filter, sum, &fault);
}

static void test_damage_found_by_reading_functions(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = open_damaged(stored->path, "function");

	assert_int_equal(try_to_read_functions(store, 3), -EBADMSG);
	assert_int_equal(try_to_read_functions(store, 3), 0);
	assert_healed(store, 1);
}

static void test_damage_found_by_reading_code(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = open_damaged(stored->path, "object_by_path");
	const struct store_function function = { .build_id = "12345678", .n_build_id = 8 };
	struct fault fault = { 0 };
	uint16_t machine;
	char code[16];

	store = store_free(store);
	damage_table(stored->path, "object");
	store = temp_store_open(stored->path, 0);
	assert_int_equal(store_find_code(store, &function, code, sizeof(code), &machine, &fault),
			 0);
	assert_healed(store, 1);
}

static void test_damage_found_by_status(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;

	make_database(stored->path);
	store = temp_store_open(stored->path, 0);
	change(stored->path, "DROP TABLE window");
	assert_healed(store, 1);
}

/* As often as it may be at once. */
static void heal_often(struct store *store, const char *path)
{
	for (uint64_t i = 1; i <= STORE_MAX_MOVED; i++) {
		int64_t id = add_seed(store, 2);

		assert_int_equal(temp_store_status(store).n_moved, i - 1);
		change(path, "DELETE FROM place");
		assert_null(temp_store_read(store, id));
		assert_healed(store, i);
	}
}

/* The window, and what is said of it, until the hour is over. */
static void assert_damaged(struct store *store, int64_t id)
{
	struct profile *p = NULL;
	struct fault fault;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(store_read(store, id, &p, NULL, &fault), -EBADMSG);
		assert_non_null(strstr(fault.text, "does not exist"));
		assert_non_null(strstr(fault.text, "3 databases were renamed before"));
		assert_int_equal(try_to_read_functions(store, id), -EBADMSG);
		assert_int_equal(temp_store_status(store).n_moved, STORE_MAX_MOVED);
		assert_int_equal(temp_store_status(store).n_windows, 2);
		assert_string_equal(temp_store_status(store).damage, fault.text);
		assert_false(store_is_due(store));
	}
}

static void test_damage_too_often_within_an_hour(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	int64_t id;

	passed_us = 0;
	store_set_clock(store, later);
	heal_often(store, stored->path);
	passed_us += STORE_HEAL_US / 2;
	id = add_seed(store, 2);
	assert_seed_is_back(store, id, 2);
	change(stored->path, "DELETE FROM place; DELETE FROM function_counts");
	assert_damaged(store, id);
	passed_us += STORE_HEAL_US / 2;
	assert_true(store_is_due(store));
	assert_null(temp_store_read(store, id));
	assert_false(store_is_due(store));
	assert_healed(store, STORE_MAX_MOVED + 1);
	/* that took the hour that had passed */
	id = add_seed(store, 2);
	change(stored->path, "DELETE FROM place; DELETE FROM function_counts");
	assert_int_equal(try_to_read_functions(store, id), -EBADMSG);
	assert_int_equal(temp_store_status(store).n_moved, STORE_MAX_MOVED + 1);
}

/* Who ends has no hour to wait. */
static void test_damage_too_often_at_the_end(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	int64_t id;

	passed_us = 0;
	store_set_clock(store, later);
	heal_often(store, stored->path);
	id = add_seed(store, 2);
	change(stored->path, "DELETE FROM place; DELETE FROM function_counts");
	assert_damaged(store, id);
	store_heal_at_once(store);
	assert_true(store_is_due(store));
	assert_null(temp_store_read(store, id));
	assert_healed(store, STORE_MAX_MOVED + 1);
}

/* No way out: then the file is what it was, and what can be done is done. */
static void test_a_disk_that_cannot_be_written_is_no_damage(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	struct fault fault;
	sqlite3 *db;

	make_database(stored->path);
	store = temp_store_open(stored->path, 0);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "BEGIN IMMEDIATE");
	assert_int_equal(try_to_add(store, 1, &fault), -EBUSY);
	assert_int_equal(temp_store_status(store).n_moved, 0);
	assert_string_equal(temp_store_status(store).damage, "");
	sqlite3_close(db);
	assert_all_are_there(store);
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
 * What comes of a damaged database: no crash, and windows can be added. Whether it is noticed
 * depends: SQLite's pages have no checksums.
 */
static void use_damaged(const char *path)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(path, 1 << 20);

	for (int64_t i = 1; i <= N_WINDOWS; i++)
		try_to_read(store, i);
	for (uint64_t i = 1; i <= 3; i++)
		try_to_read(store, add_seed(store, i));
}

static void test_damage_anywhere(void **state)
{
	struct temp_store *stored = *state;
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
			damaged[at + k] = (char)next_random(&random);
		write_file(stored->path, damaged, i % 7 == 0 ? at : n);
		use_damaged(stored->path);
		snprintf(command, sizeof(command), "rm -f '%s'*", stored->path);
		assert_int_equal(system(command), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_damage_is_left_as_it_is),
		STORE_TEST(test_damage_found_while_writing),
		STORE_TEST(test_damage_found_by_a_list),
		STORE_TEST(test_damage_found_by_reading_a_window),
		STORE_TEST(test_rows_that_do_not_fit),
		STORE_TEST(test_damage_found_by_reading_functions),
		STORE_TEST(test_damage_found_by_reading_code),
		STORE_TEST(test_damage_found_by_status),
		STORE_TEST(test_damage_too_often_within_an_hour),
		STORE_TEST(test_damage_too_often_at_the_end),
		STORE_TEST(test_a_disk_that_cannot_be_written_is_no_damage),
		STORE_TEST(test_damage_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
