/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/id-set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void ids_are_kept_apart(void **state)
{
	static const int64_t ids[] = { 0, 1, 63, 64, 1000, ID_SET_MAX - 1 };
	struct id_set set = {};

	assert_false(id_set_has(&set, 0));
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_false(id_set_has(&set, ids[i]));
		assert_int_equal(id_set_put(&set, ids[i]), 0);
		assert_true(id_set_has(&set, ids[i]));
	}
	assert_true(id_set_has(&set, 63));
	assert_false(id_set_has(&set, 62));
	assert_false(id_set_has(&set, 65));
	assert_false(id_set_has(&set, 999));
	id_set_done(&set);
}

static void ids_that_cannot_be_are_in_no_set(void **state)
{
	static const int64_t ids[] = { -1, INT64_MIN, ID_SET_MAX, INT64_MAX };
	struct id_set set = {};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
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
		cmocka_unit_test(ids_that_cannot_be_are_in_no_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
