/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/clock.h"
#include "daemon/collector/window-quality.h"

static const struct live_unwinder_counts no_stacks;

static void test_each_loss_is_in_one_window(void **state)
{
	struct window_quality quality = { .accounted_ns = clock_ns(CLOCK_MONOTONIC) };
	struct sampler_counts lost = { .ring_full = 3, .no_ring = 2, .undecodable = 1 };
	struct profile_counters first = {}, second = {};

	lost.skipped = 7;
	lost.lost_records = 5;
	lost.out_of_order = 4;
	window_quality_add_losses(&quality, &lost, UINT64_MAX);
	window_quality_take(&quality, &no_stacks, &first);
	assert_int_equal(first.lost_samples, 6);
	assert_int_equal(first.skipped, 7);
	assert_int_equal(first.lost_records, 5);
	assert_int_equal(first.out_of_order, 4);
	lost.ring_full++;
	window_quality_add_losses(&quality, &lost, UINT64_MAX);
	window_quality_take(&quality, &no_stacks, &second);
	assert_int_equal(second.lost_samples, 1);
	assert_int_equal(second.skipped, 0);
}

/* The window ended halfway between the last accounting and now, which goes on meanwhile. */
static void test_a_window_that_has_ended_gets_its_share(void **state)
{
	struct window_quality quality = { .accounted_ns = 0 }; /* when the machine started */
	const struct sampler_counts lost = { .ring_full = 1000 };
	struct profile_counters first = {}, second = {};

	window_quality_add_losses(&quality, &lost, clock_ns(CLOCK_MONOTONIC) / 2);
	window_quality_take(&quality, &no_stacks, &first);
	assert_in_range(first.lost_samples, 400, 500);
	window_quality_add_losses(&quality, &lost, UINT64_MAX);
	window_quality_take(&quality, &no_stacks, &second);
	assert_int_equal(first.lost_samples + second.lost_samples, 1000);
}

static void test_stacks_go_to_the_window_in_which_they_ended(void **state)
{
	struct live_unwinder_counts stacks = {
		.ended = { [UNWIND_COMPLETE] = 100,
			   [UNWIND_NO_TABLE] = 6,
			   [UNWIND_STACK] = 5,
			   [UNWIND_NO_RETURN] = 4,
			   [UNWIND_FRAME] = 3,
			   [UNWIND_DEPTH] = 2 },
		.n_stacks_by_fp = 9,
		.n_32_bit = 7,
	};
	struct window_quality quality = { .n_truncated = 8, .n_depth_limit = 1 };
	struct profile_counters first = {}, second = {};

	window_quality_take(&quality, &stacks, &first);
	assert_int_equal(first.stacks_unwound, 120);
	assert_int_equal(first.stacks_complete, 100);
	assert_int_equal(first.stacks_no_table, 6);
	assert_int_equal(first.stacks_copy_end, 5);
	assert_int_equal(first.stacks_no_return, 4);
	assert_int_equal(first.stacks_bad_frame, 3);
	assert_int_equal(first.stacks_depth_limit, 2 + 1);
	assert_int_equal(first.stacks_by_pointer, 9);
	assert_int_equal(first.stacks_32_bit, 7);
	assert_int_equal(first.stacks_truncated, 8);
	stacks.ended[UNWIND_NO_TABLE] += 11;
	window_quality_take(&quality, &stacks, &second);
	assert_int_equal(second.stacks_unwound, 11);
	assert_int_equal(second.stacks_no_table, 11);
	assert_int_equal(second.stacks_complete, 0);
	assert_int_equal(second.stacks_by_pointer, 0);
	assert_int_equal(second.stacks_32_bit, 0);
	assert_int_equal(second.stacks_truncated, 0);
}

static void test_stacks_since_a_switch_are_those_of_one_window(void **state)
{
	struct profile_counters counters = {};
	struct window_quality quality = { .n_since_switch = 5 };

	window_quality_take(&quality, &no_stacks, &counters);
	assert_int_equal(counters.stacks_since_switch, 5);
	window_quality_take(&quality, &no_stacks, &counters);
	assert_int_equal(counters.stacks_since_switch, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_loss_is_in_one_window),
		cmocka_unit_test(test_a_window_that_has_ended_gets_its_share),
		cmocka_unit_test(test_stacks_go_to_the_window_in_which_they_ended),
		cmocka_unit_test(test_stacks_since_a_switch_are_those_of_one_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
