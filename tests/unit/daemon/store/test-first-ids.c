/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With which window a row came, also where the largest rows have gone and their ids come again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>

#include "common/util/cleanup.h"
#include "daemon/retention/first-ids.h"
#include "daemon/store/open.h"
#include "tests/support/temp-store.h"

static int set_up(void **state)
{
	static struct temp_store stored;

	temp_store_init(&stored);
	*state = &stored;
	return 0;
}

static int tear_down(void **state)
{
	temp_store_done(*state);
	return 0;
}

/* A store with a window, in a transaction. */
static struct store *begin(const struct temp_store *stored)
{
	struct store *store = temp_store_open(stored->path, 0);
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct window window = temp_store_window(1);

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(temp_store_add(store, &window, p), 1);
	assert_int_equal(database_begin_writing(store->database), 0);
	return store;
}

static void end(struct store *store)
{
	database_roll_back(store->database);
	store_free(store);
}

/* The largest string has this id then. */
static void set_last_string(struct store *store, int id)
{
	char sql[100];

	snprintf(sql, sizeof(sql), "DELETE FROM string WHERE id >= %d", id);
	assert_int_equal(database_run(store->database, sql), 0);
	snprintf(sql, sizeof(sql),
		 "INSERT INTO string (id, text, seen) VALUES (%d, 'string %d', 1)", id, id);
	assert_int_equal(database_run(store->database, sql), 0);
}

/* Notes windows 2 to 4. */
static void note_windows(struct store *store)
{
	static const int last[] = { 1000, 1100, 900 };

	for (int64_t i = 0; i < 3; i++) {
		set_last_string(store, last[i]);
		assert_int_equal(store_first_ids_begin_window(&store->first_ids, i + 2), 0);
	}
}

static int64_t find(struct store *store, int64_t window)
{
	int64_t ids[N_ROW_KINDS];
	int r = store_first_ids_find(&store->first_ids, window, ids);

	assert_in_range(r, 0, 1);
	return r ? ids[ROW_STRING] : -1;
}

static void an_id_that_comes_again_is_of_a_later_window(void **state)
{
	struct store *store = begin(*state);
	int64_t window, last[N_ROW_KINDS];

	note_windows(store);
	assert_in_range(find(store, 1), 0, 899);
	assert_int_equal(find(store, 2), 900);
	assert_int_equal(find(store, 3), 900);
	assert_int_equal(find(store, 4), 900);
	assert_int_equal(find(store, 5), -1);
	assert_int_equal(store_first_ids_find_window(&store->first_ids, 9, &window), 0);
	assert_int_equal(window, 4);
	assert_int_equal(store_first_ids_find_window(&store->first_ids, 0, &window), 0);
	assert_int_equal(window, 0);
	assert_int_equal(store_first_ids_find_last(&store->first_ids, last), 0);
	assert_int_equal(last[ROW_STRING], 900);
	end(store);
}

static void a_window_that_goes_leaves_its_ids_to_the_one_before_it(void **state)
{
	struct store *store = begin(*state);

	note_windows(store);
	assert_int_equal(store_first_ids_remove(&store->first_ids, 4), 0);
	assert_int_equal(find(store, 4), -1);
	assert_int_equal(find(store, 3), 900);
	assert_int_equal(find(store, 2), 900);
	assert_int_equal(store_first_ids_remove(&store->first_ids, 1), 0);
	assert_int_equal(store_first_ids_remove(&store->first_ids, 2), 0);
	assert_int_equal(find(store, 1), 900);
	end(store);
}

static void a_sum_adds_rows_in_the_time_of_the_newest_window(void **state)
{
	struct store *store = begin(*state);

	note_windows(store);
	set_last_string(store, 800);
	assert_int_equal(store_first_ids_begin_sum(&store->first_ids), 0);
	assert_int_equal(find(store, 4), 800);
	set_last_string(store, 950);
	assert_int_equal(store_first_ids_begin_sum(&store->first_ids), 0);
	assert_int_equal(find(store, 4), 800);
	end(store);
}

static int64_t note_newest(struct store *store, int64_t at_least)
{
	int64_t newest = -1;

	assert_int_equal(
		store_first_ids_note_newest(&store->first_ids, &store->intern, 1, at_least), 0);
	assert_int_equal(
		database_ask(store->database, "SELECT newest FROM window WHERE id = 1", &newest),
		0);
	return newest;
}

static void what_a_window_refers_to_may_have_come_later(void **state)
{
	struct store *store = begin(*state);

	assert_int_equal(database_run(store->database,
				      "INSERT INTO window_first (window, place, stack, stream) "
				      "VALUES (2, 100, 9, 9), (3, 200, 9, 9)"),
			 0);
	memset(store->intern.largest, 0, sizeof(store->intern.largest));
	assert_int_equal(note_newest(store, 0), 0);
	store->intern.largest[INTERNED_PLACE] = 101;
	assert_int_equal(note_newest(store, 0), 2);
	store->intern.largest[INTERNED_PLACE] = 201;
	assert_int_equal(note_newest(store, 1), 3);
	assert_int_equal(note_newest(store, 7), 7);
	assert_int_equal(note_newest(store, 0), 7);
	end(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_id_that_comes_again_is_of_a_later_window),
		TEST(a_window_that_goes_leaves_its_ids_to_the_one_before_it),
		TEST(a_sum_adds_rows_in_the_time_of_the_newest_window),
		TEST(what_a_window_refers_to_may_have_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
