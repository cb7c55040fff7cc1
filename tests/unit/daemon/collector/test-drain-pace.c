/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/util/macro.h"
#include "daemon/collector/drain-pace.h"

static void let_it_rest(struct drain_pace *pace, const struct drain_pace_view *view)
{
	while (drain_pace_next(pace, view) < DRAIN_PACE_SHORT_MS)
		;
}

static void waits_become_longer_while_nothing_presses(void **state)
{
	const struct drain_pace_view view = { .n_tasks = 1000, .n_ticks = 7 };
	struct drain_pace pace = {};

	assert_int_equal(drain_pace_next(&pace, &view), 250);
	assert_int_equal(drain_pace_next(&pace, &view), 500);
	assert_int_equal(drain_pace_next(&pace, &view), 1000);
	assert_int_equal(drain_pace_next(&pace, &view), 1000);
}

/* By the length of windows, in us, and in ms. */
static void waits_are_shorter_while_windows_are(void **state)
{
	static const struct {
		uint64_t window_us;
		int most_ms;
	} lengths[] = { { 1000000, 1000 },
			{ 6000000, 1200 },
			{ 10000000, 2000 },
			{ 60000000, 2000 },
			{ 3600000000ull, 2000 } };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		const struct drain_pace_view view = { .window_us = lengths[i].window_us };
		struct drain_pace pace = {};
		int wait_ms = 0;

		for (int k = 0; k < 10; k++)
			wait_ms = drain_pace_next(&pace, &view);
		assert_int_equal(wait_ms, lengths[i].most_ms);
	}
}

static void many_events_of_tasks_with_new_files_make_the_next_drain_come_soon(void **state)
{
	struct drain_pace_view view = { .n_tasks = 1000, .n_files = 100 };
	struct drain_pace pace = {};

	let_it_rest(&pace, &view);
	view.n_tasks += DRAIN_PACE_TASKS;
	view.n_files++;
	assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_SHORT_MS);
	view.n_tasks += DRAIN_PACE_TASKS + 1;
	assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_SHORT_MS);
	view.n_tasks += DRAIN_PACE_TASKS + 1;
	view.n_files++;
	assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_LEAST_MS);
}

/* What is many in a wait of two seconds is twice what is many in one. */
static void a_longer_wait_sees_more(void **state)
{
	struct drain_pace_view view = { .window_us = 10000000 };
	struct drain_pace pace = {};

	while (drain_pace_next(&pace, &view) < DRAIN_PACE_MOST_MS)
		;
	view.n_tasks += 2 * DRAIN_PACE_TASKS;
	view.n_ticks += 2 * DRAIN_PACE_TICKS;
	assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_MOST_MS);
	view.n_tasks += 2 * DRAIN_PACE_TASKS + 1;
	view.n_files++;
	assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_LEAST_MS);
}

static void busy_cpus_are_drained_twice_a_second(void **state)
{
	struct drain_pace_view view = { .window_us = 10000000 };
	struct drain_pace pace = {};

	while (drain_pace_next(&pace, &view) < DRAIN_PACE_MOST_MS)
		;
	view.n_samples += 2 * DRAIN_PACE_SAMPLES;
	assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_MOST_MS);
	view.n_samples += 2 * DRAIN_PACE_SAMPLES + 1;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_BUSY_MS);
		view.n_samples += DRAIN_PACE_SAMPLES / 2 + 1; /* in half a second */
	}
	view.n_samples--;
	assert_int_equal(drain_pace_next(&pace, &view), 2 * DRAIN_PACE_BUSY_MS);
}

static void ticks_that_fill_their_tables_are_looked_after(void **state)
{
	struct drain_pace_view view = { .n_ticks = 1000 };
	struct drain_pace pace = {};

	let_it_rest(&pace, &view);
	view.n_ticks += DRAIN_PACE_TICKS + 1;
	assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_LEAST_MS);
	view.n_ticks = 0; /* a window has ended */
	assert_int_equal(drain_pace_next(&pace, &view), 2 * DRAIN_PACE_LEAST_MS);
}

static void phases_do_not_become_longer(void **state)
{
	const struct drain_pace_view view = { .changes_phase = true };
	struct drain_pace pace = {};

	for (int i = 0; i < 5; i++)
		assert_int_equal(drain_pace_next(&pace, &view), DRAIN_PACE_LEAST_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_become_longer_while_nothing_presses),
		cmocka_unit_test(waits_are_shorter_while_windows_are),
		cmocka_unit_test(many_events_of_tasks_with_new_files_make_the_next_drain_come_soon),
		cmocka_unit_test(a_longer_wait_sees_more),
		cmocka_unit_test(busy_cpus_are_drained_twice_a_second),
		cmocka_unit_test(ticks_that_fill_their_tables_are_looked_after),
		cmocka_unit_test(phases_do_not_become_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
