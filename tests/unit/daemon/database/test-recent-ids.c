/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/recent-ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct id_key one = { 1, 2, 3 }, other = { 1, 2, 4 };

/* 0: it is not found, or was seen before @horizon. */
static int64_t find(struct recent_ids *recent, struct id_key key, int64_t horizon)
{
	struct id_value found = { 0, 0 };
	int r = recent_ids_find(recent, key, horizon, &found);

	assert_in_range(r, 0, 1);
	assert_int_equal(r, found.id != 0);
	return found.id;
}

static void a_key_has_the_row_that_was_put_last(void **state)
{
	struct recent_ids recent = {};

	assert_int_equal(find(&recent, one, 0), 0);
	assert_int_equal(recent_ids_put(&recent, one, (struct id_value){ 10, 5 }), 0);
	assert_int_equal(find(&recent, one, 5), 10);
	assert_int_equal(find(&recent, one, 6), 0);
	assert_int_equal(find(&recent, other, 0), 0);
	assert_int_equal(recent_ids_put(&recent, one, (struct id_value){ 10, 6 }), 0);
	assert_int_equal(find(&recent, one, 6), 10);
	recent_ids_clear(&recent);
	assert_int_equal(find(&recent, one, 0), 0);
	recent_ids_done(&recent);
}

/* A key that is asked for in each generation stays, one that is not goes with the second. */
static void what_nobody_asks_for_is_forgotten(void **state)
{
	struct recent_ids recent = {};

	assert_int_equal(recent_ids_put(&recent, one, (struct id_value){ 10, 5 }), 0);
	assert_int_equal(recent_ids_put(&recent, other, (struct id_value){ 11, 5 }), 0);
	recent_ids_age(&recent, 2);
	assert_int_equal(recent.older.n, 0);
	recent_ids_age(&recent, 1);
	assert_int_equal(recent.older.n, 2);
	assert_int_equal(find(&recent, one, 0), 10);
	recent_ids_age(&recent, 0);
	assert_int_equal(find(&recent, one, 0), 10);
	assert_int_equal(find(&recent, other, 0), 0);
	recent_ids_clear(&recent);
	assert_int_equal(find(&recent, one, 0), 0);
	recent_ids_done(&recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_the_row_that_was_put_last),
		cmocka_unit_test(what_nobody_asks_for_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
