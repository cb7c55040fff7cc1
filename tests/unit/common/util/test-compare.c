/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/compare.h"
#include "common/util/percent.h"

static void test_large_numbers_do_not_wrap(void **state)
{
	uint64_t none = 0, most = UINT64_MAX;

	assert_int_equal(COMPARE(none, most), -1);
	assert_int_equal(COMPARE(most, none), 1);
	assert_int_equal(COMPARE(most, most), 0);
	assert_int_equal(COMPARE(INT64_MIN, INT64_MAX), -1);
}

static void test_no_string_comes_before_all_strings(void **state)
{
	assert_int_equal(compare_strings(NULL, NULL), 0);
	assert_true(compare_strings(NULL, "") < 0);
	assert_true(compare_strings("", NULL) > 0);
	assert_true(compare_strings("a", "b") < 0);
	assert_int_equal(compare_strings("a", "a"), 0);
}

static void test_a_percentage_of_nothing_is_zero(void **state)
{
	assert_true(percent_of(5, 0) == 0);
	assert_true(percent_of(1, 4) == 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_numbers_do_not_wrap),
		cmocka_unit_test(test_no_string_comes_before_all_strings),
		cmocka_unit_test(test_a_percentage_of_nothing_is_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
