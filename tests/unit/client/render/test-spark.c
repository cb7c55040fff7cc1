/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sparklines: heights, and how many points become few characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/render/spark.h"

#include <locale.h>

#include "common/util/macro.h"

static void check(const char *wanted, size_t n_columns, const double *values, size_t n)
{
	char text[24 * SPARK_BYTES + 1];

	assert_true(n_columns <= 24);
	spark_format(text, n_columns, values, n);
	assert_string_equal(text, wanted);
}

static void test_heights_of_ascii(void **unused)
{
	static const double values[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, -1 };
	static const double nothing[] = { 0, 0, -1 };

	setlocale(LC_ALL, "C");
	check("_.:-=+*## ", 24, values, ARRAY_SIZE(values));
	check("__ ", 24, nothing, ARRAY_SIZE(nothing));
	check("", 24, values, 0);
}

static void test_points_are_joined(void **unused)
{
	static const double values[] = { 0, 0, 4, 4, 8, 8, -1, -1 };
	static const double partly[] = { 8, -1, -1, 8 };

	setlocale(LC_ALL, "C");
	check("_=# ", 4, values, ARRAY_SIZE(values));
	check("##", 2, partly, ARRAY_SIZE(partly));
}

static void test_heights_of_utf8(void **unused)
{
	static const double values[] = { 0, 4, 8 };

	assert_non_null(setlocale(LC_ALL, "C.UTF-8"));
	check("▁▅█", 24, values, ARRAY_SIZE(values));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights_of_ascii),
		cmocka_unit_test(test_points_are_joined),
		cmocka_unit_test(test_heights_of_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
