/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/launch/service.h"

static const uint64_t second_us = 1000000;

static void test_as_many_as_expected(void **state)
{
	assert_int_equal(service_n_missing(99, second_us, 99), 0);
	assert_int_equal(service_n_missing(99, second_us, 120), 0);
	assert_int_equal(service_n_missing(99, second_us, 60), 0);
	(void)state;
}

static void test_far_fewer(void **state)
{
	assert_int_equal(service_n_missing(99, second_us, 0), 99);
	assert_int_equal(service_n_missing(99, second_us, 40), 59);
	assert_int_equal(service_n_missing(997, second_us / 10, 0), 99);
	(void)state;
}

/* So few may be chance. */
static void test_short_command(void **state)
{
	assert_int_equal(service_n_missing(99, second_us / 10, 0), 0);
	assert_int_equal(service_n_missing(99, 0, 0), 0);
	(void)state;
}

/* Sampled by a number of events: nobody knows how many samples a second makes. */
static void test_period(void **state)
{
	assert_int_equal(service_n_missing(0, second_us, 0), 0);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_many_as_expected),
		cmocka_unit_test(test_far_fewer),
		cmocka_unit_test(test_short_command),
		cmocka_unit_test(test_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
