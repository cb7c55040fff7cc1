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
	struct recent_ids recent = { .max = 2 };

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

static void put(struct recent_ids *recent, int64_t i)
{
	const struct id_key key = { i, 0, 0 };

	assert_int_equal(recent_ids_put(recent, key, (struct id_value){ i, 0 }), 0);
}

/* A key that is asked for in each generation stays, one that is not goes with the second. */
static void what_nobody_asks_for_is_forgotten(void **state)
{
	struct recent_ids recent = { .max = 2 };

	put(&recent, 1);
	put(&recent, 2);
	assert_true(recent_ids_full(&recent));
	put(&recent, 3);
	assert_false(recent_ids_full(&recent));
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 1);
	put(&recent, 4);
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 1);
	assert_int_equal(find(&recent, (struct id_key){ 2, 0, 0 }, 0), 0);
	assert_int_equal(find(&recent, (struct id_key){ 3, 0, 0 }, 0), 3);
	recent_ids_clear(&recent);
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 0);
	recent_ids_done(&recent);
}

/* A generation may end before it is full. */
static void a_generation_is_begun_early(void **state)
{
	struct recent_ids recent = { .max = 100 };

	put(&recent, 1);
	put(&recent, 2);
	recent_ids_begin_generation(&recent);
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 1);
	put(&recent, 3);
	recent_ids_begin_generation(&recent);
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 1);
	assert_int_equal(find(&recent, (struct id_key){ 2, 0, 0 }, 0), 0);
	assert_int_equal(find(&recent, (struct id_key){ 3, 0, 0 }, 0), 3);
	recent_ids_begin_generation(&recent);
	recent_ids_begin_generation(&recent);
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 0);
	recent_ids_done(&recent);
}

static void the_older_generation_is_forgotten_alone(void **state)
{
	struct recent_ids recent = { .max = 100 };

	put(&recent, 1);
	put(&recent, 2);
	recent_ids_begin_generation(&recent);
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 1); /* it moves */
	recent_ids_forget_older(&recent);
	assert_int_equal(recent.older.n, 0);
	assert_int_equal(find(&recent, (struct id_key){ 1, 0, 0 }, 0), 1);
	assert_int_equal(find(&recent, (struct id_key){ 2, 0, 0 }, 0), 0);
	recent_ids_done(&recent);
}

#define MANY 1000

/* However many are put, and asked for after they went to the older generation. */
static void no_generation_outgrows_its_limit(void **state)
{
	struct recent_ids recent = { .max = 100 };

	for (int64_t i = 1; i <= MANY; i++) {
		put(&recent, i);
		assert_int_equal(find(&recent, (struct id_key){ i, 0, 0 }, 0), i);
		find(&recent, (struct id_key){ i / 2 + 1, 0, 0 }, 0);
		find(&recent, (struct id_key){ i - 100, 0, 0 }, 0);
		assert_in_range(recent.ids.n, 1, 100);
		assert_in_range(recent.older.n, 0, 100);
	}
	recent_ids_done(&recent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_the_row_that_was_put_last),
		cmocka_unit_test(what_nobody_asks_for_is_forgotten),
		cmocka_unit_test(a_generation_is_begun_early),
		cmocka_unit_test(the_older_generation_is_forgotten_alone),
		cmocka_unit_test(no_generation_outgrows_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
