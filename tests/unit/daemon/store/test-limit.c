/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store at its limit: the oldest windows go with all that only they referred to, and nothing
 * else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/cleanup.h"
#include "daemon/retention/room.h"
#include "daemon/store/store.h"
#include "tests/support/random-profile.h"
#include "tests/support/rolled-store.h"
#include "tests/support/temp-store.h"

#define MAX_BYTES (1u << 20)

static int set_up(void **state)
{
	struct temp_store *stored = malloc(sizeof(*stored));

	assert_non_null(stored);
	temp_store_init(stored);
	*state = stored;
	return 0;
}

static int tear_down(void **state)
{
	temp_store_done(*state);
	free(*state);
	return 0;
}

/*
 * The profile of window @i: some that are always the same, and some with things that no other
 * window has, kept apart by an address that all their stacks begin with.
 */
static struct profile *make_profile(uint64_t i)
{
	struct profile *p = random_profile_of_one_user(i % 5);
	char text[64];

	for (uint32_t k = 0; k < 50; k++) {
		struct profile_stack stack = { .parent = PROFILE_NONE,
					       .process = PROFILE_NONE,
					       .frame = { PROFILE_NONE, i << 20 | k << 4 },
					       .samples = 1 };
		struct profile_function function = { .object = PROFILE_NONE,
						     .start = stack.frame.offset,
						     .size = 16,
						     .name = text };
		struct profile_process process = {
			.pid = (int32_t)k, .start_ns = i, .comm = text, .uid = UINT32_MAX
		};

		snprintf(text, sizeof(text), "function %u of window %u", k, (unsigned int)i);
		assert_true(profile_add_function(p, &function) >= 0);
		assert_true(profile_add_process(p, &process) >= 0);
		stack.parent = (uint32_t)profile_add_stack(p, &stack);
		assert_true(profile_add_stack(p, &stack) >= 0);
	}
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static void add_window(struct store *store, uint64_t i)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(i);
	struct window window = temp_store_window(i);

	assert_int_equal(temp_store_add(store, &window, p), i);
}

static void assert_is_there(struct store *store, uint64_t i)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(i);
	_cleanup_(profile_freep) struct profile *back = temp_store_read(store, (int64_t)i);

	assert_non_null(back);
	assert_true(profile_equal(p, back));
}

/* Of @n windows ever added those that the status tells of are there, and they are the newest. */
static void assert_newest_are_there(struct store *store, uint64_t n)
{
	struct store_status status = temp_store_status(store);

	assert_true(status.n_windows >= 1 && status.n_windows <= n);
	for (uint64_t i = 1; i <= n - status.n_windows; i++)
		assert_null(temp_store_read(store, (int64_t)i));
	for (uint64_t i = n - status.n_windows + 1; i <= n; i++)
		assert_is_there(store, i);
	assert_int_equal(status.first_us, temp_store_window(n - status.n_windows + 1).start_us);
}

static void test_the_oldest_windows_go(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, MAX_BYTES);
	struct store_status status;

	for (uint64_t i = 1; i <= 300; i++) {
		add_window(store, i);
		status = temp_store_status(store);
		assert_int_equal(status.n_windows + status.n_removed, i);
		assert_true(temp_store_file_bytes(stored->path) <= MAX_BYTES + MAX_BYTES / 8);
	}
	assert_true(status.n_windows > 20);
	assert_newest_are_there(store, 300);
	store = store_free(store);
	temp_store_check(stored->path);
}

static int64_t count(sqlite3 *db, const char *table)
{
	char sql[100];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
	return temp_store_number(db, sql);
}

/* Without a limit of size: they were the only ones that had their functions. */
static void test_what_windows_had_that_go_by_age(void **state)
{
	const struct store_settings settings = { .max_retention_us = 1000 * 1000000ULL };
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	uint64_t n_bytes, n_windows;
	sqlite3 *db;

	for (uint64_t i = 1; i <= 800; i++)
		add_window(store, i);
	store_free(store);
	n_bytes = temp_store_file_bytes(stored->path);
	store = temp_store_open(stored->path, 0);
	store_set_settings(store, &settings);
	temp_store_roll_all(store);
	store_free(store);
	store = temp_store_open(stored->path, 0);
	add_window(store, 801);
	n_windows = temp_store_status(store).n_windows;
	assert_in_range(n_windows, 100, 200);
	for (uint64_t i = 801 - n_windows + 1; i <= 801; i++)
		assert_is_there(store, i);
	store_free(store);
	temp_store_check(stored->path);
	db = temp_store_connect(stored->path);
	assert_true(count(db, "function") < (int64_t)n_windows * 50 * 2);
	assert_true(count(db, "process") < (int64_t)n_windows * 50 * 2);
	sqlite3_close(db);
	assert_true(temp_store_file_bytes(stored->path) < n_bytes / 4 * 3);
}

/* Of what is there once for each window there is at most what some 150 windows have. */
static void test_what_nothing_refers_to_goes(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, MAX_BYTES);
	int64_t n_windows;
	sqlite3 *db;

	for (uint64_t i = 1; i <= 600; i++)
		add_window(store, i);
	n_windows = (int64_t)temp_store_status(store).n_windows;
	store_free(store);
	db = temp_store_connect(stored->path);
	assert_int_equal(count(db, "window"), n_windows);
	assert_true(count(db, "function") < n_windows * 50 * 2);
	assert_true(count(db, "stack") < n_windows * 100 * 2 + 1000);
	assert_true(count(db, "place") < n_windows * 50 * 2 + 1000);
	assert_true(count(db, "process") < n_windows * 50 * 2 + 1000);
	assert_true(count(db, "string") < n_windows * 50 * 2 + 1000);
	sqlite3_close(db);
}

static void test_nothing_refers_to_what_is_gone(void **state)
{
	struct temp_store *stored = *state;
	uint64_t n = 0;

	/* not only at the end of a round, and across openings */
	for (int k = 0; k < 25; k++) {
		struct store *store = temp_store_open(stored->path, MAX_BYTES / 2);

		for (int i = 0; i < 1 + k % 13; i++)
			add_window(store, ++n);
		store_free(store);
		temp_store_check(stored->path);
	}
}

/* A machine that does the same for long: what is in use stays, and is not brought up to date for
 * nothing. */
static void test_what_is_in_use_stays(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 300 << 10);
	_cleanup_(profile_freep) struct profile *p = random_profile_of_one_user(4);
	sqlite3 *db;

	for (uint64_t i = 1; i <= 400; i++) {
		struct window window = temp_store_window(i);
		_cleanup_(profile_freep) struct profile *back = NULL;

		assert_int_equal(temp_store_add(store, &window, p), i);
		back = temp_store_read(store, (int64_t)i);
		assert_true(profile_equal(p, back));
	}
	assert_true(temp_store_status(store).n_removed > 0);
	store_free(store);
	temp_store_check(stored->path);
	db = temp_store_connect(stored->path);
	assert_true(temp_store_number(db, "SELECT max(id) FROM stack") <= 100);
	sqlite3_close(db);
}

/* Nor is it for each window where these are few. */
static void test_few_windows_are_not_brought_up_to_date_each_time(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	_cleanup_(profile_freep) struct profile *p = random_profile_of_one_user(4);
	sqlite3 *db;

	for (uint64_t i = 1; i <= 5; i++) {
		struct window window = temp_store_window(i);

		assert_int_equal(temp_store_add(store, &window, p), i);
	}
	store_free(store);
	db = temp_store_connect(stored->path);
	assert_int_equal(temp_store_number(db, "SELECT max(seen) FROM place WHERE id > 0"), 1);
	sqlite3_close(db);
	temp_store_check(stored->path);
}

/* What the keys are is in the database once: a window more is its counts. */
static void test_a_window_like_the_last_costs_its_counts(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(profile_freep) struct profile *p = random_profile_of_one_user(4);
	uint64_t n_rows = p->n_processes + p->n_stacks + p->n_branches + p->n_blocks;
	uint64_t n_bytes[3];

	for (int i = 0; i < 3; i++) {
		struct store *store = temp_store_open(stored->path, 0);

		for (uint64_t k = 0; k < 100; k++) {
			struct window window = temp_store_window(k);

			temp_store_add(store, &window, p);
		}
		store_free(store);
		n_bytes[i] = temp_store_file_bytes(stored->path);
	}
	/* their cycles are 64-bit numbers, which real ones are not, and they have variances */
	assert_in_range((n_bytes[2] - n_bytes[1]) / 100 / n_rows, 1, 42);
}

static void test_a_lower_limit_is_reached_step_by_step(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	uint64_t n_bytes, removed = 0, n = 0;

	while (n < 150)
		add_window(store, ++n);
	store_free(store);
	n_bytes = temp_store_file_bytes(stored->path);
	assert_true(n_bytes > MAX_BYTES * 2);
	store = temp_store_open(stored->path, MAX_BYTES);
	while (n < 300) {
		add_window(store, ++n);
		assert_true(temp_store_status(store).n_removed - removed <= 4);
		removed = temp_store_status(store).n_removed;
	}
	assert_newest_are_there(store, n);
	store_free(store);
	assert_true(temp_store_file_bytes(stored->path) <= MAX_BYTES + MAX_BYTES / 8);
	temp_store_check(stored->path);
}

static void test_the_limit_leaves_space_free(void **state)
{
	static const struct {
		struct store_settings settings;
		struct store_room room;
		uint64_t want;
	} cases[] = {
		{ { .max_bytes = 5 << 20 }, { 1 << 30, 0, 9 << 20 }, 5 << 20 },
		{ { .max_bytes = 0 }, { 1 << 30, 0, 9 << 20 }, 0 },
		{ { .keep_free.bytes = 20 << 20 }, { 1 << 30, 30 << 20, 9 << 20 }, 19 << 20 },
		/* whether the database has the space, or gave it back */
		{ { .keep_free.bytes = 20 << 20 }, { 1 << 30, 15 << 20, 9 << 20 }, 4 << 20 },
		{ { .keep_free.bytes = 20 << 20 }, { 1 << 30, 20 << 20, 4 << 20 }, 4 << 20 },
		{ { .max_bytes = 5 << 20, .keep_free.bytes = 20 << 20 },
		  { 1 << 30, 30 << 20, 9 << 20 },
		  5 << 20 },
		{ { .max_bytes = 5 << 20, .keep_free.bytes = 20 << 20 },
		  { 1 << 30, 15 << 20, 9 << 20 },
		  4 << 20 },
		{ { .keep_free.percent = 10 }, { 1000 << 20, 120 << 20, 10 << 20 }, 30 << 20 },
		{ { .keep_free = { 110 << 20, 10 } },
		  { 1000 << 20, 120 << 20, 10 << 20 },
		  20 << 20 },
		{ { .keep_free.bytes = UINT64_MAX }, { 1 << 30, 1 << 30, 9 << 20 }, 1 << 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(store_room_limit(&cases[i].settings, &cases[i].room),
				 cases[i].want);
}

/* On a file system of which nothing is to be used: the database is as small as it may be. */
static void test_windows_go_where_space_is_to_be_free(void **state)
{
	const struct store_settings settings = { .keep_free.percent = 100 };
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	uint64_t n = 0;

	while (n < 150)
		add_window(store, ++n);
	assert_int_equal(temp_store_status(store).max_bytes, 0);
	assert_int_equal(temp_store_status(store).n_removed, 0);
	store_set_settings(store, &settings);
	assert_int_equal(temp_store_status(store).max_bytes, STORE_ROOM_MIN_BYTES);
	while (n < 300)
		add_window(store, ++n);
	assert_newest_are_there(store, n);
	store_free(store);
	assert_true(temp_store_file_bytes(stored->path) <= MAX_BYTES + MAX_BYTES / 8);
	temp_store_check(stored->path);
}

static void test_the_newest_window_stays_whatever_the_limit(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 1);

	for (uint64_t i = 1; i <= 30; i++) {
		add_window(store, i);
		assert_is_there(store, i);
		assert_int_equal(temp_store_status(store).n_windows, 1);
	}
	store = store_free(store);
	temp_store_check(stored->path);
	assert_true(temp_store_file_bytes(stored->path) < MAX_BYTES / 2);
}

/* What a damaged database claims: windows are added nevertheless. */
static void test_ids_as_large_as_they_can_be(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	sqlite3 *db;

	for (uint64_t i = 1; i <= 20; i++) {
		struct window window = temp_store_window(i);
		_cleanup_(profile_freep) struct profile *p = random_profile(i, 0);

		if (i == 12) {
			db = temp_store_connect(stored->path);
			temp_store_run(db, "UPDATE window_first SET place = 9223372036854775807");
			sqlite3_close(db);
			store_free(store);
			store = temp_store_open(stored->path, 100 << 10);
		}
		assert_int_equal(temp_store_add(store, &window, p), i);
	}
	store_free(store);
}

/* An id below 0 is no error. */
static void test_ids_below_zero(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	_cleanup_(profile_freep) struct profile *p = random_profile(1, 0);
	struct window window = temp_store_window(1);
	sqlite3 *db;

	assert_int_equal(temp_store_add(store, &window, p), 1);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "DELETE FROM counter_count");
	temp_store_run(db, "UPDATE counter SET id = -35 - id");
	assert_true(temp_store_number(db, "SELECT count(*) FROM counter") > 0);
	sqlite3_close(db);
	store_free(store);
	store = temp_store_open(stored->path, 0);
	window = temp_store_window(2);
	assert_int_equal(temp_store_add(store, &window, p), 2);
	store_free(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_oldest_windows_go),
		TEST(test_what_nothing_refers_to_goes),
		TEST(test_what_windows_had_that_go_by_age),
		TEST(test_nothing_refers_to_what_is_gone),
		TEST(test_what_is_in_use_stays),
		TEST(test_few_windows_are_not_brought_up_to_date_each_time),
		TEST(test_a_window_like_the_last_costs_its_counts),
		TEST(test_a_lower_limit_is_reached_step_by_step),
		cmocka_unit_test(test_the_limit_leaves_space_free),
		TEST(test_windows_go_where_space_is_to_be_free),
		TEST(test_the_newest_window_stays_whatever_the_limit),
		TEST(test_ids_as_large_as_they_can_be),
		TEST(test_ids_below_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
