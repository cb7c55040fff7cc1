/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probe with settings: filters, modes, periods and frequencies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/simulated-machine.h"

static void test_filters(void **state)
{
	struct sampler_settings settings = usual;
	struct simulated s;
	struct probe_result result;
	struct fault fault;

	simulated_init(&s);
	settings.branch_filter = PERF_SAMPLE_BRANCH_ANY_CALL | USER;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_string_equal(result.what.filter, "any_call,u");
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.branch_sample_type,
			 PERF_SAMPLE_BRANCH_ANY_CALL | USER);
	assert_false(result.leave_kernel);

	/* the kernel would decode each row's branch to leave out its own: we do that */
	settings.branch_filter = ANY | USER;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_string_equal(result.what.filter, "any,u");
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.branch_sample_type, ANY | USER | KERNEL);
	assert_true(result.leave_kernel);

	/* on these it does so in any case, and the hardware keeps more of the user's */
	machine_init(&s.machine, "AuthenticAMD,25,17,1", " amd_lbr_v2 ", 16);
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.branch_sample_type, ANY | USER);
	assert_false(result.leave_kernel);

	settings.branch_filter = ANY | KERNEL;
	settings.kernel = false;
	assert_int_equal(probe(&result, &s, &settings, &fault), -EINVAL);
}

static void test_without_the_kernel(void **state)
{
	struct sampler_settings settings = usual;
	struct simulated s;
	struct probe_result result;
	struct fault fault;

	simulated_init(&s);
	settings.kernel = false;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_string_equal(result.what.filter, "any,u");
	assert_true(result.leave_kernel);
	assert_true(result.events[BPF_EVENT_ANY].attr.exclude_kernel);
	assert_true(result.events[BPF_EVENT_CALLS].attr.exclude_kernel);
}

static void test_modes_that_are_asked_for(void **state)
{
	struct sampler_settings settings = usual;
	struct simulated s;
	struct probe_result result;
	struct fault fault;

	simulated_init(&s);
	settings.mode = SAMPLER_BRANCH;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.what.mode, SAMPLER_BRANCH);
	assert_true(result.events[BPF_EVENT_ANY].used && !result.events[BPF_EVENT_CALLS].used);
	assert_string_equal(result.what.why_not_better, "");
	settings.mode = SAMPLER_STACK;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.what.mode, SAMPLER_STACK);
	assert_string_equal(result.what.filter, "");
	assert_true(!result.events[BPF_EVENT_ANY].used && result.events[BPF_EVENT_CALLS].used);
}

static void assert_period(uint64_t hz, uint64_t frequency, uint64_t period, uint64_t expected)
{
	struct sampler_settings settings = usual;
	struct simulated s;
	struct probe_result result;
	struct fault fault;

	simulated_init(&s);
	s.machine.hz = hz;
	settings.frequency = frequency;
	settings.period = period;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.what.period, expected);
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.sample_period, expected);
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.freq, 0);
}

static void test_periods(void **state)
{
	assert_period(3000000000, 99, 0, 30303067); /* the next prime */
	assert_period(3000000000, 99, 1000003, 1000003);
	assert_period(0, 1000, 0, 2000003); /* nothing is known of its speed */
}

static void test_frequencies_that_are_none(void **state)
{
	struct sampler_settings settings = { .frequency = 0, .kernel = true };
	struct simulated s = { 0 };
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe(&result, &s, &settings, &fault), -EINVAL);
	settings.frequency = 1000000;
	assert_int_equal(probe(&result, &s, &settings, &fault), -EINVAL);
}

static void test_names_of_modes(void **state)
{
	for (int i = 0; i < N_SAMPLER_MODES; i++)
		assert_int_equal(sampler_mode_parse(sampler_mode_name((enum sampler_mode)i)), i);
	assert_int_equal(sampler_mode_parse("lbr"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_without_the_kernel),
		cmocka_unit_test(test_modes_that_are_asked_for),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_frequencies_that_are_none),
		cmocka_unit_test(test_names_of_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
