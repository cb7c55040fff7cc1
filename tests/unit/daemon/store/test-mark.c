/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows with a name stay as they are, whatever their age and however full the database is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/store/mark.h"
#include "tests/support/rolled-store.h"
#include "tests/support/seeded-store.h"

#define SECOND 1000000ULL
#define N      120 /* windows of 10 s */

/* Of windows 11 to 13; all others are merged, and go after 300 s. */
#define FIRST 11
#define LAST  13

static const struct store_settings aging = {
	.tiers = { .rows = { { 10 * SECOND, 50 * SECOND }, { 60 * SECOND, 300 * SECOND } },
		   .n = 2 },
};

static struct store_mark mark_of(const char *name, int64_t first, int64_t last)
{
	struct store_mark mark = { .first = first, .last = last, .made_us = 7, .uid = 1000 };

	snprintf(mark.name, sizeof(mark.name), "%s", name);
	return mark;
}

static int try_to_mark(struct store *store, const char *name, int64_t first, int64_t last)
{
	struct store_mark mark = mark_of(name, first, last);
	struct fault fault = { 0 };
	int r = store_add_mark(store, &mark, &fault);

	assert_true(r == 0 || *fault.text);
	return r;
}

static void add_one(struct store *store, uint64_t i)
{
	_cleanup_(profile_freep) struct profile *p = random_profile_of_one_user(i);
	struct window window = temp_store_window(i);

	p->info = (struct profile_info){ .n_cpus = 1, .start_ns = i * 10, .end_ns = i * 10 + 9 };
	temp_store_add(store, &window, p);
}

static void add_many(struct store *store, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i <= to; i++)
		add_one(store, i);
}

static void assert_marked_are_there(struct store *store)
{
	for (int64_t id = FIRST; id <= LAST; id++) {
		_cleanup_(profile_freep) struct profile *p =
			random_profile_of_one_user((uint64_t)id);
		_cleanup_(profile_freep) struct profile *back = temp_store_read(store, id);

		p->info = (struct profile_info){ .n_cpus = 1,
						 .start_ns = (uint64_t)id * 10,
						 .end_ns = (uint64_t)id * 10 + 9 };
		assert_non_null(back);
		assert_true(profile_equal(p, back));
	}
}

static bool has_window(struct store *store, int64_t id)
{
	_cleanup_(profile_freep) struct profile *back = temp_store_read(store, id);

	return back;
}

static void test_they_are_not_merged_and_do_not_go_by_age(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct fault fault;

	store_set_settings(store, &aging);
	add_many(store, 1, 20);
	assert_int_equal(try_to_mark(store, "before", FIRST, LAST), 0);
	add_many(store, 21, N);
	temp_store_roll_all(store);
	assert_marked_are_there(store);
	assert_false(has_window(store, 10)); /* gone by age */
	assert_false(has_window(store, 14));
	assert_false(has_window(store, 67)); /* merged with others of its minute */
	store_free(store);
	temp_store_check(stored->path);

	store = temp_store_open(stored->path, 0);
	store_set_settings(store, &aging);
	temp_store_roll_all(store);
	assert_marked_are_there(store);
	assert_int_equal(store_remove_mark(store, "after", &fault), 0);
	assert_int_equal(store_remove_mark(store, "before", &fault), 1);
	temp_store_roll_all(store);
	for (int64_t id = FIRST; id <= LAST; id++)
		assert_false(has_window(store, id));
	store_free(store);
	temp_store_check(stored->path);
}

/* Also one whose user has more than a fair share of rows. */
static void test_they_do_not_go_where_there_is_no_room(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 1 << 20);
	struct store_status status;

	add_many(store, 1, 20);
	assert_int_equal(try_to_mark(store, "before", FIRST, LAST), 0);
	for (uint64_t i = 21; i <= 400; i++)
		add_seed(store, i);
	assert_marked_are_there(store);
	assert_false(has_window(store, 10));
	assert_false(has_window(store, 14));
	status = temp_store_status(store);
	assert_true(status.n_removed > 100);
	store_free(store);
	temp_store_check(stored->path);
}

/* A window whose processes are in no other. */
static void add_new_processes(struct store *store, uint64_t i)
{
	static char names[64][64];
	_cleanup_(profile_freep) struct profile *p = random_profile_of_one_user(i % 50);
	struct window window = temp_store_window(i);

	assert_true(p->n_processes <= ARRAY_SIZE(names));
	for (size_t k = 0; k < p->n_processes; k++) {
		snprintf(names[k], sizeof(names[k]), "unit-%d-%d.service", (int)i, (int)k);
		p->processes[k].unit = names[k];
		p->processes[k].pid = (int32_t)(i * ARRAY_SIZE(names) + k);
	}
	p->finalized = false;
	assert_int_equal(profile_finalize(p), 0);
	temp_store_add(store, &window, p);
}

/* What old marked windows refer to stays, and nothing else that is as old. */
static void test_an_old_mark_leaves_room(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 2 << 20);
	int64_t n_windows, n_processes;
	sqlite3 *db;

	add_many(store, 1, 20);
	assert_int_equal(try_to_mark(store, "before", FIRST, LAST), 0);
	for (uint64_t i = 21; i <= 1200; i++) {
		add_new_processes(store, i);
		if (i % 500 == 0) { /* what is under way is forgotten */
			store_free(store);
			store = temp_store_open(stored->path, 2 << 20);
		}
	}
	assert_marked_are_there(store);
	store_free(store);
	temp_store_check(stored->path);
	db = temp_store_connect(stored->path);
	n_windows = temp_store_number(db, "SELECT count(*) FROM window");
	n_processes = temp_store_number(db, "SELECT count(*) FROM process");
	sqlite3_close(db);
	assert_true(n_windows > 60); /* 103 without a mark */
	assert_true(n_processes < 20 * n_windows);
}

static void test_they_are_there_after_opening_again(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	const struct store_mark *marks;
	struct store_marked marked;
	struct fault fault;
	size_t n;

	add_many(store, 1, 5);
	assert_int_equal(try_to_mark(store, "b", 2, 4), 0);
	assert_int_equal(try_to_mark(store, "a", 4, 4), 0);
	assert_int_equal(try_to_mark(store, "c", 1, 1), 0);
	store_free(store);
	store = temp_store_open(stored->path, 0);
	marks = store_get_marks(store, &n);
	assert_int_equal(n, 3);
	assert_string_equal(marks[0].name, "a");
	assert_string_equal(marks[1].name, "b");
	assert_string_equal(marks[2].name, "c");
	assert_int_equal(marks[1].first, 2);
	assert_int_equal(marks[1].last, 4);
	assert_int_equal(marks[1].made_us, 7);
	assert_int_equal(marks[1].uid, 1000);
	assert_int_equal(store_measure_mark(store, &marks[1], &marked, &fault), 0);
	assert_int_equal(marked.n_windows, 3);
	assert_int_equal(marked.samples, 2 + 3 + 4);
	assert_int_equal(marked.since_us, 20 * SECOND);
	assert_int_equal(marked.until_us, 50 * SECOND);
	assert_true(marked.n_rows > 0);
	assert_int_equal(store_remove_mark(store, "b", &fault), 1);
	marks = store_get_marks(store, &n);
	assert_int_equal(n, 2);
	assert_string_equal(marks[1].name, "c");
	store_free(store);
}

static void test_they_are_limited(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	const struct store_settings small = { .max_bytes = 4096 };
	char name[8];

	add_many(store, 1, 20);
	assert_int_equal(try_to_mark(store, "none", 20, 21), -ENOENT);
	assert_int_equal(try_to_mark(store, "none", 0, 1), -ENOENT);
	for (int i = 0; i < STORE_MAX_MARKS; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		assert_int_equal(try_to_mark(store, name, 1, 1), 0);
	}
	assert_int_equal(try_to_mark(store, "m3", 2, 2), -EEXIST);
	assert_int_equal(try_to_mark(store, "more", 2, 2), -EMLINK);
	store_free(store);

	store = temp_store_open(stored->path, 0);
	assert_int_equal(try_to_mark(store, "more", 2, 2), -EMLINK);
	assert_int_equal(store_remove_mark(store, "m7", &(struct fault){}), 1);
	store_set_settings(store, &small);
	assert_int_equal(try_to_mark(store, "more", 2, 20), -EDQUOT);
	store_free(store);
}

/* They would keep windows for ever: nobody could list or remove them. */
static void test_what_no_daemon_wrote_is_removed(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	const struct store_mark *marks;
	sqlite3 *db;
	size_t n;

	add_many(store, 1, 5);
	assert_int_equal(try_to_mark(store, "a-._9", 2, 4), 0);
	assert_int_equal(try_to_mark(store, "b", 5, 5), 0);
	store_free(store);
	db = temp_store_connect(stored->path);
	temp_store_run(db, "INSERT INTO mark VALUES ('', 1, 1 << 62, 0, 0), ('x', 2, 1, 0, 0), "
			   "('x0', 0, 1, 0, 0), ('x1', 1, 1, -1, 0), ('x2', 1, 1, 0, -1), "
			   "('x3', 1, 1, 0, 1 << 32), ('x' || char(27), 1, 1, 0, 0), "
			   "(CAST(x'61ff' AS TEXT), 1, 1, 0, 0), "
			   "(CAST(x'610062' AS TEXT), 1, 1, 0, 0), ('x..y', 1, 1, 0, 0), "
			   "('x' || printf('%64s', 'y'), 1, 1, 0, 0), "
			   "(replace(printf('%65s', 'y'), ' ', 'y'), 1, 1, 0, 0)");
	sqlite3_close(db);
	store = temp_store_open(stored->path, 0);
	marks = store_get_marks(store, &n);
	assert_int_equal(n, 2);
	assert_string_equal(marks[0].name, "a-._9");
	assert_string_equal(marks[1].name, "b");
	store_free(store);
	db = temp_store_connect(stored->path);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM mark"), 2);
	temp_store_run(db, "WITH RECURSIVE n (i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n "
			   "WHERE i < 199) INSERT INTO mark SELECT 'c' || i, 1, 1, 0, 0 FROM n");
	sqlite3_close(db);
	store = temp_store_open(stored->path, 0);
	marks = store_get_marks(store, &n);
	assert_int_equal(n, STORE_MAX_MARKS);
	assert_string_equal(marks[n - 1].name, "c161");
	store_free(store);
	db = temp_store_connect(stored->path);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM mark"), STORE_MAX_MARKS);
	sqlite3_close(db);
}

static void test_names(void **state)
{
	static const char *const valid[] = { "a", "before-deploy", "v1.2_3", "Z9" };
	static const char *const invalid[] = { "",    "1a",  "-a",   "@a",       ".a", "a..b",
					       "a b", "a/b", "a\nb", "\xc3\xa9", "a,b" };
	char name[STORE_MARK_NAME_MAX + 2];

	for (size_t i = 0; i < sizeof(valid) / sizeof(*valid); i++)
		assert_true(store_mark_name_is_valid(valid[i]));
	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++)
		assert_false(store_mark_name_is_valid(invalid[i]));
	memset(name, 'a', sizeof(name));
	name[STORE_MARK_NAME_MAX] = '\0';
	assert_true(store_mark_name_is_valid(name));
	name[STORE_MARK_NAME_MAX] = 'a';
	name[STORE_MARK_NAME_MAX + 1] = '\0';
	assert_false(store_mark_name_is_valid(name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_they_are_not_merged_and_do_not_go_by_age),
		STORE_TEST(test_they_do_not_go_where_there_is_no_room),
		STORE_TEST(test_an_old_mark_leaves_room),
		STORE_TEST(test_they_are_there_after_opening_again),
		STORE_TEST(test_they_are_limited),
		STORE_TEST(test_what_no_daemon_wrote_is_removed),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
