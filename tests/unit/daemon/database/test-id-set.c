/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/id-set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/util/macro.h"

static void ids_are_kept_apart(void **state)
{
	static const int64_t ids[] = { 0, 1, 63, 64, 1000, (1 << 24), (1 << 24) + 63, INT64_MAX };
	struct id_set set = {};

	assert_false(id_set_has(&set, 0));
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		assert_false(id_set_has(&set, ids[i]));
		assert_int_equal(id_set_put(&set, ids[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_true(id_set_has(&set, ids[i]));
	assert_false(id_set_has(&set, 62));
	assert_false(id_set_has(&set, 65));
	assert_false(id_set_has(&set, 999));
	assert_false(id_set_has(&set, (1 << 24) + 64));
	assert_false(id_set_has(&set, INT64_MAX - 1));
	id_set_done(&set);
}

/* Ids that a database has after a year, many of which belong at the same place. */
static void many_ids_are_found_again(void **state)
{
	const int64_t first = (int64_t)1 << 30, step = 1 << 16;
	struct id_set set = {};

	for (int64_t i = 0; i < 1000; i++) {
		assert_int_equal(id_set_put(&set, first + i * step), 0);
		assert_int_equal(id_set_put(&set, first + i), 0);
	}
	for (int64_t i = 0; i < 1000; i++) {
		assert_true(id_set_has(&set, first + i * step));
		assert_true(id_set_has(&set, first + i));
		assert_false(id_set_has(&set, i));
		assert_false(id_set_has(&set, first + i * step + 1000));
	}
	/* by the words, not by how large the ids are */
	assert_in_range(set.n_words, 1015, 4096);
	id_set_done(&set);
}

static void ids_that_cannot_be_are_in_no_set(void **state)
{
	static const int64_t ids[] = { -1, INT64_MIN };
	struct id_set set = {};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		assert_int_equal(id_set_put(&set, ids[i]), 0);
		assert_false(id_set_has(&set, ids[i]));
	}
	assert_null(set.words);
	id_set_done(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_kept_apart),
		cmocka_unit_test(many_ids_are_found_again),
		cmocka_unit_test(ids_that_cannot_be_are_in_no_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
