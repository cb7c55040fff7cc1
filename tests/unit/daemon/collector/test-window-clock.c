/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/collector/window-clock.h"

#define S  1000000ull    /* in microseconds */
#define NS 1000000000ull /* a second in nanoseconds */

/* Windows of 10 s, begun at 1003.5 s of the wall clock, when the even clock stood at 50 s. */
static struct window_clock begin(void)
{
	struct window_clock s;

	window_clock_start(&s, 10 * S, 50 * NS, 1003 * S + S / 2);
	return s;
}

static void test_the_first_ends_at_a_boundary(void **state)
{
	struct window_clock s = begin();

	assert_int_equal(s.start_us, 1003 * S + S / 2);
	assert_int_equal(s.end_us, 1010 * S);
	assert_int_equal(s.end_ns, 56 * NS + NS / 2);
}

static void test_the_next_lasts_as_long_as_it_should(void **state)
{
	struct window_clock s = begin();

	window_clock_next(&s);
	assert_int_equal(s.start_us, 1010 * S);
	assert_int_equal(s.end_us, 1020 * S);
	assert_int_equal(s.start_ns, 56 * NS + NS / 2);
	assert_int_equal(s.end_ns, 66 * NS + NS / 2);
}

static void test_begun_on_a_boundary(void **state)
{
	struct window_clock s;

	window_clock_start(&s, 10 * S, 50 * NS, 1000 * S);
	assert_int_equal(s.end_us, 1010 * S);
}

/* ntpd slews: the end moves in even time, for it is the wall clock's. */
static void test_a_slewed_clock_is_followed(void **state)
{
	struct window_clock s = begin();

	assert_false(window_clock_follow(&s, 51 * NS, 1004 * S + S / 2 + 100));
	assert_int_equal(s.end_us, 1010 * S);
	assert_int_equal(s.end_ns, 56 * NS + NS / 2 - 100 * 1000);
	for (uint64_t i = 0; i < 5000; i++) /* half a second behind in the end, by and by */
		assert_false(window_clock_follow(&s, 51 * NS, 1004 * S + S / 2 - 100 * i));
	assert_int_equal(s.end_ns, 56 * NS + NS / 2 + 4999 * 100 * 1000ull);
}

static void test_a_clock_that_jumps(void **state)
{
	struct window_clock s = begin();

	assert_true(window_clock_follow(&s, 51 * NS, 1004 * S + S / 2 + 3600 * S));
	assert_true(window_clock_follow(&s, 51 * NS, 4 * S));
	assert_false(window_clock_follow(&s, 51 * NS, 1004 * S + S / 2));
	assert_int_equal(s.end_ns, 56 * NS + NS / 2);
}

/* The clock of samples stood still while the machine was suspended: the window ends, no later one
 * is as long as the time asleep. */
static void test_a_suspended_machine(void **state)
{
	struct window_clock s = begin();
	const uint64_t asleep = 8 * 3600 * S;

	assert_true(window_clock_follow(&s, 51 * NS, 1004 * S + S / 2 + asleep));
	window_clock_start(&s, 10 * S, 51 * NS, 1004 * S + S / 2 + asleep);
	assert_int_equal(s.start_us, 1004 * S + S / 2 + asleep);
	assert_int_equal(s.end_us, 1010 * S + asleep);
	assert_int_equal(s.end_ns, 56 * NS + NS / 2);
}

/* Before 1970 plus the time since boot: the even clock is ahead. */
static void test_a_wall_clock_behind_the_even_one(void **state)
{
	struct window_clock s;

	window_clock_start(&s, 10 * S, 5000 * NS, 3 * S);
	assert_int_equal(s.end_us, 10 * S);
	assert_int_equal(s.end_ns, 5007 * NS);
	assert_false(window_clock_follow(&s, 5001 * NS, 4 * S));
	assert_int_equal(s.end_ns, 5007 * NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_ends_at_a_boundary),
		cmocka_unit_test(test_the_next_lasts_as_long_as_it_should),
		cmocka_unit_test(test_begun_on_a_boundary),
		cmocka_unit_test(test_a_slewed_clock_is_followed),
		cmocka_unit_test(test_a_clock_that_jumps),
		cmocka_unit_test(test_a_suspended_machine),
		cmocka_unit_test(test_a_wall_clock_behind_the_even_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
