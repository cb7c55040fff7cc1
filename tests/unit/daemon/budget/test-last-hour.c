/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "daemon/budget/last-hour.h"

#define SECOND_NS 1000000000ull
#define START_NS  (1000000 * SECOND_NS)

/* Windows of @seconds each from *@now_ns on, for @minutes. */
static void add(struct last_hour *hour, uint64_t *now_ns, unsigned int minutes,
		unsigned int seconds, struct last_hour_average each)
{
	for (unsigned int i = 0; i < minutes * 60; i += seconds) {
		*now_ns += seconds * SECOND_NS;
		last_hour_add(hour, *now_ns, seconds, &each);
	}
}

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9);
}

static void test_nothing_is_known(void **state)
{
	struct last_hour hour = { 0 };
	struct last_hour_average average = last_hour_get(&hour, START_NS);

	assert_true(average.share == 0 && average.taken == 0);
}

static void test_half_of_an_hour_each(void **state)
{
	struct last_hour hour = { 0 };
	uint64_t now = START_NS;
	struct last_hour_average average;

	add(&hour, &now, 15, 10, (struct last_hour_average){ 0.004, 1 });
	average = last_hour_get(&hour, now);
	assert_near(average.share, 0.004);
	assert_near(average.taken, 1);
	add(&hour, &now, 15, 300, (struct last_hour_average){ 0.002, 0.5 });
	average = last_hour_get(&hour, now);
	assert_near(average.share, 0.003);
	assert_near(average.taken, 0.75);
}

static void test_older_windows_are_gone(void **state)
{
	struct last_hour hour = { 0 };
	uint64_t now = START_NS;
	struct last_hour_average average;

	add(&hour, &now, 600, 2, (struct last_hour_average){ 0.004, 1 });
	add(&hour, &now, 60, 2, (struct last_hour_average){ 0.001, 0.25 });
	average = last_hour_get(&hour, now);
	assert_near(average.share, 0.001);
	assert_near(average.taken, 0.25);
	average = last_hour_get(&hour, now + 3600 * SECOND_NS); /* nothing was sampled meanwhile */
	assert_true(average.share == 0 && average.taken == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_known),
		cmocka_unit_test(test_half_of_an_hour_each),
		cmocka_unit_test(test_older_windows_are_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
