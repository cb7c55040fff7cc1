/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/stats/distribution.h"

#include <math.h>

static void assert_near(double a, double b, double off)
{
	assert_true(fabs(a - b) <= off);
}

/* Sums of binomial terms, and closed forms. */
static void test_beta(void **state)
{
	assert_near(distribution_beta(2, 3, 0.5), 11.0 / 16, 1e-12);
	assert_near(distribution_beta(1, 7, 0.1), 1 - pow(0.9, 7), 1e-12);
	assert_near(distribution_beta(7, 1, 0.9), pow(0.9, 7), 1e-12);
	assert_near(distribution_beta(0.5, 0.5, 0.25), 1.0 / 3, 1e-12); /* the law of the arcsine */
	assert_near(distribution_beta(400, 600, 0.4), 1 - distribution_beta(600, 400, 0.6), 1e-10);
	assert_near(distribution_beta(3, 4, 0), 0, 0);
	assert_near(distribution_beta(3, 4, 1), 1, 0);
}

/* From tables of Student's t. */
static void test_student(void **state)
{
	assert_near(distribution_student(12.7062, 1), 0.05, 1e-6);
	assert_near(distribution_student(2.2281, 10), 0.05, 1e-5);
	assert_near(distribution_student(-4.5869, 10), 0.001, 1e-6);
	assert_near(distribution_student(1.959964, INFINITY), 0.05, 1e-7);
	assert_near(distribution_student(0, 5), 1, 1e-12);
}

static void test_the_limit_has_a_p_value_of_a_twentieth(void **state)
{
	assert_near(distribution_student_limit(5), 2.5706, 1e-3);
	assert_near(distribution_student_limit(11), 2.2010, 1e-3);
	assert_near(distribution_student_limit(INFINITY), 1.9600, 1e-4);
	for (double freedom = 5; freedom < 500; freedom *= 1.3)
		assert_near(distribution_student(distribution_student_limit(freedom), freedom),
			    0.05, 5e-5);
}

static void test_normal_limit(void **state)
{
	assert_near(distribution_normal_limit(0.05), 1.959964, 1e-5);
	assert_near(distribution_normal_limit(1e-12), 7.1305, 1e-3);
	assert_near(distribution_normal_limit(1), 0, 1e-9);
	assert_true(distribution_normal_limit(0) > 35);
}

static void test_binomial(void **state)
{
	assert_near(distribution_binomial(8, 10, 0.5), 2 * 56.0 / 1024, 1e-12);
	assert_near(distribution_binomial(2, 10, 0.5), 2 * 56.0 / 1024, 1e-12);
	assert_near(distribution_binomial(0, 10, 0.5), 2.0 / 1024, 1e-12);
	assert_near(distribution_binomial(10, 10, 0.5), 2.0 / 1024, 1e-12);
	assert_near(distribution_binomial(5, 10, 0.5), 1, 1e-12);
	assert_near(distribution_binomial(0, 0, 0.5), 1, 1e-12);
	/* where the normal approximation begins */
	assert_near(distribution_binomial(2060, 4000, 0.5) /
			    distribution_binomial(2060.5, 4001, 0.5),
		    1, 0.05);
}

/* 26.1.20, summed up: for a small share it is not normal. */
static void test_binomial_of_a_small_share(void **state)
{
	static const double cases[][3] = {
		{ 30, 20000, 5e-4 }, { 5, 1e6, 1e-6 }, { 1000, 1e6, 9e-4 }, { 2, 1e5, 1e-7 }
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double k = cases[i][0], n = cases[i][1], part = cases[i][2], sum = 0;

		for (double j = k; j < k + 2000; j++)
			sum += exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) +
				   j * log(part) + (n - j) * log1p(-part));
		assert_near(distribution_binomial(k, n, part) / (2 * sum), 1, 1e-6);
		assert_near(distribution_binomial(n - k, n, 1 - part) / (2 * sum), 1, 1e-6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beta),
		cmocka_unit_test(test_student),
		cmocka_unit_test(test_the_limit_has_a_p_value_of_a_twentieth),
		cmocka_unit_test(test_normal_limit),
		cmocka_unit_test(test_binomial),
		cmocka_unit_test(test_binomial_of_a_small_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
