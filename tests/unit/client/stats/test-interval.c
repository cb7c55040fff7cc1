/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The expected intervals are the roots of (share - p)^2 = z^2 p (1 - p) / n. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/stats/interval.h"

static void test_shares(void **state)
{
	static const struct {
		uint64_t k, n;
		double low, high;
	} cases[] = {
		{ 0, 0, 0, 1 },           { 0, 10, 0, 0.2775328 },
		{ 10, 10, 0.7224672, 1 }, { 50, 100, 0.4038315, 0.5961685 },
		{ 1, 1, 0.2065493, 1 },   { 3000, 10000, 0.2910965, 0.3090571 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct interval interval = interval_of_estimate(cases[i].k, cases[i].n, 1);

		assert_float_equal(interval.low, cases[i].low, 1e-6);
		assert_float_equal(interval.high, cases[i].high, 1e-6);
		interval = interval_of_estimate(2 * cases[i].k, 2 * cases[i].n, 2);
		assert_float_equal(interval.low, cases[i].low, 1e-6);
		assert_float_equal(interval.high, cases[i].high, 1e-6);
	}
}

static void test_the_largest_counts(void **state)
{
	struct interval interval = interval_of_estimate(UINT64_MAX / 2, UINT64_MAX, 1);

	assert_float_equal(interval.low, 0.5, 1e-6);
	assert_float_equal(interval.high, 0.5, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_the_largest_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
