/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which windows there are: the list, the status, and the views that people query. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/store/store.h"
#include "tests/support/seeded-store.h"

struct list {
	struct window windows[10];
	size_t n;
	int answer;
};

static int on_window(const struct window *window, void *userdata)
{
	struct list *list = userdata;

	assert_true(list->n < ARRAY_SIZE(list->windows));
	list->windows[list->n++] = *window;
	return list->answer;
}

static int list_windows(struct store *store, struct list *list, uint64_t since, uint64_t until)
{
	struct fault fault;

	list->n = 0;
	return store_for_each(store, since, until, on_window, list, &fault);
}

/* Three that follow each other, and one in whose time the clock was set back. */
static struct store *store_of_four(void)
{
	static const uint64_t starts[] = { 100, 110, 120, 95 };
	struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *p = random_profile(1, 0);

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		struct window window = {
			.start_us = starts[i], .length_us = 10, .samples = UINT64_MAX - i, .lost = i
		};

		memset(window.mode, 'm', sizeof(window.mode) - 1);
		assert_int_equal(temp_store_add(store, &window, p), i + 1);
	}
	return store;
}

static void test_windows_are_listed_by_time(void **state)
{
	static const struct {
		uint64_t since, until;
		const char *ids;
	} cases[] = {
		{ 0, UINT64_MAX, "4123" },
		{ 110, 120, "2" },
		{ 109, 121, "123" },
		{ 104, 105, "41" },
		{ 105, 106, "1" },
		{ 130, 140, "" },
		{ 90, 95, "" },
		{ 90, 96, "4" },
		{ 0, 0, "" },
		{ 129, 130, "3" },
	};
	_cleanup_(store_freep) struct store *store = store_of_four();
	struct list list = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char ids[8] = "";

		assert_int_equal(list_windows(store, &list, cases[i].since, cases[i].until), 0);
		for (size_t k = 0; k < list.n; k++)
			ids[k] = (char)('0' + list.windows[k].id);
		assert_string_equal(ids, cases[i].ids);
	}
}

static void test_windows_are_listed_as_they_were(void **state)
{
	_cleanup_(store_freep) struct store *store = store_of_four();
	struct list list = { 0 };

	assert_int_equal(list_windows(store, &list, 120, 121), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.windows[0].id, 3);
	assert_int_equal(list.windows[0].start_us, 120);
	assert_int_equal(list.windows[0].length_us, 10);
	assert_true(list.windows[0].samples == UINT64_MAX - 2);
	assert_int_equal(list.windows[0].lost, 2);
	assert_int_equal(strlen(list.windows[0].mode), sizeof(list.windows[0].mode) - 1);
	assert_false(list.windows[0].open);
}

static void test_a_listing_ends_where_the_handler_says(void **state)
{
	_cleanup_(store_freep) struct store *store = store_of_four();
	struct list list = { .answer = -ECANCELED };

	assert_int_equal(list_windows(store, &list, 0, UINT64_MAX), -ECANCELED);
	assert_int_equal(list.n, 1);
}

static int read_and_add(const struct window *window, void *userdata)
{
	struct store *store = userdata;
	_cleanup_(profile_freep) struct profile *p = temp_store_read(store, window->id);

	return (int)MIN(temp_store_add(store, window, p), (int64_t)0);
}

static void test_the_handler_may_use_the_store(void **state)
{
	_cleanup_(store_freep) struct store *store = store_of_four();
	struct fault fault;

	assert_int_equal(store_for_each(store, 0, UINT64_MAX, read_and_add, store, &fault), 0);
	assert_int_equal(temp_store_status(store).n_windows, 8);
}

static void test_a_window_that_is_not_there(void **state)
{
	_cleanup_(store_freep) struct store *store = store_of_four();

	assert_null(temp_store_read(store, 0));
	assert_null(temp_store_read(store, 5));
	assert_null(temp_store_read(store, INT64_MIN));
}

static void test_the_status_has_the_span(void **state)
{
	_cleanup_(store_freep) struct store *empty = temp_store_open(":memory:", 0);
	_cleanup_(store_freep) struct store *store = store_of_four();
	struct store_status status = temp_store_status(empty);

	assert_int_equal(status.n_windows, 0);
	assert_int_equal(status.first_us, 0);
	assert_int_equal(status.last_us, 0);
	status = temp_store_status(store);
	assert_int_equal(status.n_windows, 4);
	assert_int_equal(status.first_us, 95);
	assert_int_equal(status.last_us, 130);
	assert_string_equal(status.moved_to, "");
}

static void test_views_agree_with_the_profile(void **state)
{
	static const char *const views[] = {
		"window_summary", "counters",     "processes",  "places",       "top_processes",
		"top_functions",  "top_branches", "top_blocks", "stack_frames",
	};
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	_cleanup_(profile_freep) struct profile *p = random_profile(5, 0);
	struct window window = temp_store_window(360);
	uint64_t samples = 0, taken = 0;
	sqlite3 *db = NULL;
	char text[100];

	temp_store_add(store, &window, p);
	for (size_t i = 0; i < p->n_stacks; i++)
		samples += p->stacks[i].samples;
	for (size_t i = 0; i < p->n_branches; i++)
		taken += p->branches[i].taken;
	db = temp_store_connect(stored->path);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		snprintf(text, sizeof(text), "SELECT count(*) FROM %s", views[i]);
		assert_true(temp_store_number(db, text) > 0);
	}
	assert_int_equal(temp_store_number(db, "SELECT sum(samples) FROM top_functions"), samples);
	assert_int_equal(temp_store_number(db, "SELECT sum(taken) FROM top_branches"), taken);
	assert_int_equal(temp_store_number(db, "SELECT blocks FROM window_summary"), p->n_blocks);
	temp_store_ask(db, "SELECT start_utc FROM window_summary", text, sizeof(text));
	assert_string_equal(text, "1970-01-01 01:00:00");
	assert_int_equal(temp_store_number(db, "SELECT value FROM counters WHERE name = 'rows'"),
			 p->counters.rows);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_are_listed_by_time),
		cmocka_unit_test(test_windows_are_listed_as_they_were),
		cmocka_unit_test(test_a_listing_ends_where_the_handler_says),
		cmocka_unit_test(test_the_handler_may_use_the_store),
		cmocka_unit_test(test_a_window_that_is_not_there),
		cmocka_unit_test(test_the_status_has_the_span),
		STORE_TEST(test_views_agree_with_the_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
