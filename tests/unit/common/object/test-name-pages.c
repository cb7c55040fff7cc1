/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/object/name-pages.h"

#define N 1000

static char *number(size_t i)
{
	char *text;

	assert_true(asprintf(&text, "%zu", i) > 0);
	return text;
}

static void each_string_stays_where_it_is(void **state)
{
	struct name_pages *names = name_pages_new(N);

	assert_non_null(names);
	for (size_t i = 0; i < N; i++)
		assert_null(*name_pages_at(names, i));
	for (size_t i = 0; i < N; i += 7)
		*name_pages_at(names, i) = number(i);
	for (size_t i = 0; i < N; i++) {
		char *expected = number(i);

		if (i % 7 == 0)
			assert_string_equal(*name_pages_at(names, i), expected);
		else
			assert_null(*name_pages_at(names, i));
		free(expected);
	}
	assert_null(name_pages_free(names));
}

static void the_first_and_the_last_of_any_number(void **state)
{
	for (size_t n = 1; n < 200; n++) {
		struct name_pages *names = name_pages_new(n);

		*name_pages_at(names, n - 1) = number(n);
		assert_int_equal(*name_pages_at(names, 0) != NULL, n == 1);
		name_pages_free(names);
	}
	name_pages_free(name_pages_new(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_string_stays_where_it_is),
		cmocka_unit_test(the_first_and_the_last_of_any_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
