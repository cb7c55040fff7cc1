/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong with a database is found, and said where; and nothing in one that is as it was
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "daemon/store/verify.h"
#include "tests/support/profile-totals.h"
#include "tests/support/rolled-store.h"
#include "tests/support/seeded-store.h"

#define N 48

/* A random profile whose counters are what its tables add up to. */
static void add_sound(struct store *store, uint64_t seed)
{
	_cleanup_(profile_freep) struct profile *p = random_profile_of_one_user(seed);
	struct window window = temp_store_window(seed);
	struct profile_counters *c = &p->counters;

	p->info = (struct profile_info){ .n_cpus = 1,
					 .start_ns = seed * 10,
					 .end_ns = seed * 10 + 9 };
	c->samples = count_samples(p);
	c->rows_counted = c->runs_counted = c->streams = 0;
	for (size_t i = 0; i < p->n_branches; i++)
		c->rows_counted += p->branches[i].taken;
	for (size_t i = 0; i < p->n_blocks; i++)
		c->runs_counted += p->blocks[i].runs;
	for (size_t i = 0; i < p->n_streams; i++)
		c->streams += p->streams[i].hits;
	temp_store_add(store, &window, p);
}

static void make_sound(const char *path, const struct store_settings *settings)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(path, 0);

	store_set_settings(store, settings);
	for (uint64_t i = 1; i <= N; i++)
		add_sound(store, i);
	temp_store_roll_all(store);
}

static struct store_verified verify(const char *path, bool stopped)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(path, 0);
	_cleanup_(store_verify_freep) struct store_verify *verify = NULL;
	struct fault fault = {};

	assert_int_equal(store_verify_new(&verify, store, &fault), 1);
	if (stopped)
		store_verify_stop(verify);
	if (store_verify_work(verify, &fault) < 0)
		fail_msg("%s", fault.text);
	assert_int_equal(store_count_moved(store), 0); /* it only looks */
	return *store_verify_get(verify);
}

static void assert_sound(const char *path, uint64_t n_windows)
{
	struct store_verified verified = verify(path, false);

	if (verified.problems.n > 0)
		fail_msg("%s: %s", verified.problems.rows[0].where, verified.problems.rows[0].what);
	assert_int_equal(verified.n_windows, n_windows);
	assert_true(verified.whole && verified.n_bytes > 4096);
	assert_int_equal(verified.problems.n_all, 0);
}

static void test_what_was_written_is_sound(void **state)
{
	struct temp_store *stored = *state;

	make_sound(stored->path, &(struct store_settings){ 0 });
	assert_sound(stored->path, N);
}

static void test_what_was_merged_is_sound(void **state)
{
	static const struct store_settings settings = {
		.tiers = { .rows = { { 10000000, 50000000 }, { 60000000, 1000000000 } }, .n = 2 },
	};
	struct temp_store *stored = *state;

	make_sound(stored->path, &settings);
	assert_true(verify(stored->path, false).n_windows < N);
	assert_sound(stored->path, verify(stored->path, false).n_windows);
}

static void test_a_new_one_is_sound(void **state)
{
	struct temp_store *stored = *state;

	store_free(temp_store_open(stored->path, 0));
	assert_sound(stored->path, 0);
}

/* Is a problem like these found, where the SQL makes one? */
static void assert_found(const char *path, const char *change, const char *where, const char *what)
{
	struct store_verified verified;
	sqlite3 *db = temp_store_connect(path);
	bool found = false;

	temp_store_run(db, change);
	sqlite3_close(db);
	verified = verify(path, false);
	assert_true(verified.problems.n > 0);
	assert_true(verified.problems.n_all >= verified.problems.n);
	for (size_t i = 0; i < verified.problems.n; i++)
		found |= strstr(verified.problems.rows[i].where, where) &&
			 strstr(verified.problems.rows[i].what, what);
	if (!found)
		fail_msg("%s: not '%s: %s', but '%s: %s'", change, where, what,
			 verified.problems.rows[0].where, verified.problems.rows[0].what);
	assert_true(verified.whole);
}

static void test_each_damage_is_found(void **state)
{
	static const struct {
		const char *change, *where, *what;
	} cases[] = {
		{ "DELETE FROM place WHERE id = (SELECT max(place) FROM stack_count)",
		  "table stack_count", "of place that are not there" },
		{ "DELETE FROM string WHERE id = (SELECT max(comm) FROM process)", "table process",
		  "of string that are not there" },
		{ "UPDATE stack_count SET samples = samples + 1 WHERE window = 3", "window 3",
		  "its stacks add up to" },
		{ "UPDATE branch_count SET taken = taken + 1 WHERE window = 4", "window 4",
		  "its branches add up to" },
		{ "UPDATE block_count SET runs = runs + 1 WHERE window = 4", "window 4",
		  "its blocks add up to" },
		{ "UPDATE stream_count SET hits = hits + 1 WHERE window = 4", "window 4",
		  "its streams add up to" },
		{ "UPDATE branch_count SET kind = 99 WHERE window = 5", "window 5",
		  "a branch of unknown kind" },
		{ "UPDATE function_counts SET counts = x'ffffff' WHERE window = 6", "window 6",
		  "its counts by function are damaged" },
		{ "UPDATE function_counts SET processes = substr(processes, 1, 20) WHERE window = "
		  "6",
		  "window 6", "its counts by function are damaged or missing" },
		{ "DELETE FROM function_counts WHERE window = 6", "window 6",
		  "its counts by function are damaged or missing" },
		{ "UPDATE variance SET variances = x'00' WHERE window = 6", "window 6",
		  "the variances of window 6" },
		{ "UPDATE object_counts SET counts = x'00' WHERE window = 7", "window 7",
		  "its counts by object" },
		{ "UPDATE place SET seen = -5 WHERE id = (SELECT min(origin) FROM stream WHERE id "
		  "> 0)",
		  "table stream", "were seen later than what they refer to in place" },
		{ "UPDATE stack SET seen = -9 WHERE id = (SELECT max(caller) FROM stack_count)",
		  "window", "rows of stack that it refers to are taken for unused" },
		{ "UPDATE stack SET parent = id + 1 WHERE id = 3", "table stack",
		  "do not come after their parents" },
	};
	struct temp_store *stored = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char command[400];

		make_sound(stored->path, &(struct store_settings){ 0 });
		assert_found(stored->path, cases[i].change, cases[i].where, cases[i].what);
		snprintf(command, sizeof(command), "rm -f '%s'*", stored->path);
		assert_int_equal(system(command), 0);
	}
}

/* Bytes of a page of the counts are others. */
static void test_a_damaged_page_is_found(void **state)
{
	struct temp_store *stored = *state;
	struct store_verified verified;
	int64_t page;
	sqlite3 *db;
	size_t n;
	char *data;

	make_sound(stored->path, &(struct store_settings){ 0 });
	db = temp_store_connect(stored->path);
	temp_store_run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
	page = temp_store_number(db, "SELECT max(pageno) FROM dbstat WHERE name = 'branch_count'");
	sqlite3_close(db);
	data = read_file(stored->path, &n);
	memset(data + (page - 1) * 4096, 0x5a, 64);
	write_file(stored->path, data, n);
	free(data);
	verified = verify(stored->path, false);
	assert_true(verified.problems.n > 0);
	assert_string_equal(verified.problems.rows[0].where, "file");
}

static void test_it_can_be_stopped(void **state)
{
	struct temp_store *stored = *state;
	struct store_verified verified;

	make_sound(stored->path, &(struct store_settings){ 0 });
	verified = verify(stored->path, true);
	assert_false(verified.whole);
	assert_int_equal(verified.n_windows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_what_was_written_is_sound),
		STORE_TEST(test_what_was_merged_is_sound),
		STORE_TEST(test_a_new_one_is_sound),
		STORE_TEST(test_each_damage_is_found),
		STORE_TEST(test_a_damaged_page_is_found),
		STORE_TEST(test_it_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
