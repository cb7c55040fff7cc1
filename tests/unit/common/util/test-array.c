/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/array.h"

#include <errno.h>

static void test_grows_and_keeps_what_is_there(void **state)
{
	uint32_t *a = NULL;
	size_t cap = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(ARRAY_RESERVE(&a, &cap, i + 1), 0);
		assert_true(cap > i);
		a[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(a[i], i);
	free(a);
}

static void test_a_size_that_overflows_is_refused(void **state)
{
	uint64_t *a = NULL;
	size_t cap = 0;

	assert_int_equal(ARRAY_RESERVE(&a, &cap, SIZE_MAX / 4), -ENOMEM);
	assert_null(a);
	assert_int_equal(cap, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_and_keeps_what_is_there),
		cmocka_unit_test(test_a_size_that_overflows_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
