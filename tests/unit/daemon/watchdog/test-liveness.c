/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the watchdog is fed, by times made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/watchdog/liveness.h"

#define SECOND   1000000ull
#define INTERVAL (2 * SECOND)

/* Checks at @now seconds, where the last turn was at @turned; 0: nothing is sampled. */
static bool check(struct liveness *liveness, uint64_t now, uint64_t turned)
{
	const struct liveness_view view = { now * SECOND, turned * SECOND, turned > 0 };

	return liveness_check(liveness, &view, INTERVAL);
}

static void one_that_turns_is_alive(void **state)
{
	struct liveness liveness = {};

	for (uint64_t now = 1000; now < 2000; now += 2)
		assert_true(check(&liveness, now, now));
}

static void one_that_does_not_is_stuck_after_ten_seconds(void **state)
{
	struct liveness liveness = {};

	assert_true(check(&liveness, 1000, 1000));
	for (uint64_t now = 1002; now < 1010; now += 2)
		assert_true(check(&liveness, now, 1000));
	for (uint64_t now = 1010; now < 1100; now += 2) {
		assert_false(check(&liveness, now, 1000));
		assert_true(liveness.stuck);
	}
	assert_true(check(&liveness, 1100, 1099)); /* it turns again */
	assert_false(liveness.stuck);
	assert_true(check(&liveness, 1108, 1099));
}

/* A turn late, but within the time, begins the time anew. */
static void a_slow_one_is_alive(void **state)
{
	struct liveness liveness = {};

	for (uint64_t turned = 1000; turned < 2000; turned += 9)
		for (uint64_t now = turned; now < turned + 9; now++)
			assert_true(check(&liveness, now, turned));
}

static void without_sampling_it_is_fed(void **state)
{
	struct liveness liveness = {};

	for (uint64_t now = 1000; now < 1100; now += 2)
		assert_true(check(&liveness, now, 0));
	assert_true(check(&liveness, 1100, 1100)); /* a retry has begun to sample */
	assert_true(check(&liveness, 1108, 1100));
	assert_true(check(&liveness, 1109, 0)); /* ... and failed */
	assert_true(check(&liveness, 1200, 0));
	/* another collector: the silence of the one before does not count */
	assert_true(check(&liveness, 1201, 1201));
	assert_true(check(&liveness, 1205, 1201));
}

/* The whole process was stopped for an hour: its collector may be the second to wake up. */
static void one_that_was_stopped_is_alive(void **state)
{
	struct liveness liveness = {};

	assert_true(check(&liveness, 1000, 1000));
	assert_true(check(&liveness, 4600, 1000));
	assert_true(check(&liveness, 4602, 4601));
	/* but not if it does not wake up at all */
	assert_true(check(&liveness, 8200, 4601));
	assert_true(check(&liveness, 8202, 4601));
	assert_true(check(&liveness, 8204, 4601));
	assert_false(check(&liveness, 8206, 4601));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_turns_is_alive),
		cmocka_unit_test(one_that_does_not_is_stuck_after_ten_seconds),
		cmocka_unit_test(a_slow_one_is_alive),
		cmocka_unit_test(without_sampling_it_is_fed),
		cmocka_unit_test(one_that_was_stopped_is_alive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
