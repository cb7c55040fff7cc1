/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store's file where it is damaged: nothing is lost that could be mended, and windows can be
 * added. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <limits.h>
#include <string.h>

#include "common/util/cleanup.h"
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

static void test_damage_found_while_writing(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = NULL;
	_cleanup_free_ char *data = NULL;
	struct store_status status;
	sqlite3 *db;
	char name[100];
	size_t n;

	make_database(stored->path);
	db = temp_store_connect(stored->path);
	temp_store_ask(db,
		       "SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = 'stack_count'",
		       name, sizeof(name));
	sqlite3_close(db);
	data = read_file(stored->path, &n);
	memset(data + atoll(name), 0xee, 4096);
	write_file(stored->path, data, n);

	store = temp_store_open(stored->path, 0);
	assert_string_equal(temp_store_status(store).moved_to, "");
	assert_int_equal(temp_store_status(store).n_windows, N_WINDOWS);
	assert_int_equal(add_seed(store, 9), 1);
	assert_seed_is_back(store, 1, 9);
	status = temp_store_status(store);
	assert_int_equal(status.n_windows, 1);
	assert_non_null(strstr(status.why_moved, "damaged"));
	assert_true(temp_store_file_bytes(status.moved_to) == n);
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
		STORE_TEST(test_damage_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
