/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probe with events that were chosen by name: what is opened, and what is said where it fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/simulated-machine.h"

static int probe_of(struct probe_result *ret, struct simulated *s, const char *event,
		    struct fault *fault)
{
	struct sampler_settings settings = usual;

	assert_int_equal(event_spec_parse(event, &settings.event), 0);
	return probe(ret, s, &settings, fault);
}

static void test_an_event_of_the_pmu(void **state)
{
	const struct perf_event_attr *attr;
	struct probe_result result;
	struct simulated s;
	struct fault fault;

	simulated_init(&s);
	assert_int_equal(probe_of(&result, &s, "branch-misses", &fault), 0);
	attr = &result.events[BPF_EVENT_ANY].attr;
	assert_int_equal(result.what.mode, SAMPLER_STACK_BRANCH);
	assert_string_equal(result.what.event, "branch-misses");
	assert_true(result.what.is_counted);
	assert_int_equal(attr->type, PERF_TYPE_HARDWARE);
	assert_int_equal(attr->config, PERF_COUNT_HW_BRANCH_MISSES);
	assert_int_equal(attr->sample_type, PERF_SAMPLE_BRANCH_STACK);
	assert_int_equal(attr->sample_period, 151517); /* a prime: one in 200 cycles, 99 Hz */
	assert_int_equal(result.events[BPF_EVENT_CALLS].attr.config, PERF_COUNT_HW_BRANCH_MISSES);
	assert_int_equal(probe_of(&result, &s, "r1c4", &fault), 0);
	attr = &result.events[BPF_EVENT_ANY].attr;
	assert_int_equal(attr->type, PERF_TYPE_RAW);
	assert_int_equal(attr->config, 0x1c4);
}

static void test_an_event_of_the_kernel(void **state)
{
	const struct perf_event_attr *attr;
	struct probe_result result;
	struct simulated s;
	struct fault fault;

	simulated_init(&s);
	assert_int_equal(probe_of(&result, &s, "page-faults", &fault), 0);
	attr = &result.events[BPF_EVENT_ANY].attr;
	assert_int_equal(result.what.mode, SAMPLER_SOFTWARE);
	assert_string_equal(result.what.event, "page-faults");
	assert_string_equal(result.what.why_not_better, "");
	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr->config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(attr->sample_type, 0);
	assert_int_equal(result.what.period, attr->sample_period);
	assert_false(result.ticks_when_idle || result.lbr);
	assert_int_equal(probe_of(&result, &s, "major-faults", &fault), 0);
	assert_int_equal(result.what.period, 1);
	assert_int_equal(probe_of(&result, &s, "cpu-clock", &fault), 0);
	assert_int_equal(result.what.period, 0);
	assert_true(result.ticks_when_idle);
}

static void test_modes(void **state)
{
	struct sampler_settings settings = usual;
	struct probe_result result;
	struct simulated s;
	struct fault fault;

	simulated_init(&s);
	assert_int_equal(event_spec_parse("cs", &settings.event), 0);
	settings.mode = SAMPLER_BRANCH;
	assert_int_equal(probe(&result, &s, &settings, &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.text, "mode branch: the kernel counts cs itself"));
	assert_int_equal(event_spec_parse("cpu-clock", &settings.event), 0);
	assert_int_equal(probe(&result, &s, &settings, &fault), -EOPNOTSUPP);
	assert_int_equal(event_spec_parse("instructions", &settings.event), 0);
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.what.mode, SAMPLER_BRANCH);
	settings.mode = SAMPLER_SOFTWARE;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.what.mode, SAMPLER_SOFTWARE);
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.config, PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.sample_type, 0);
}

/* An event that was asked for is not replaced by the clock. */
static void test_what_cannot_be_had(void **state)
{
	struct probe_result result;
	struct simulated s = { .cycles = -ENOENT, .rows = -ENOENT };
	struct fault fault;

	assert_int_equal(probe_of(&result, &s, "cache-misses", &fault), -ENOENT);
	assert_non_null(strstr(fault.text, "Event=cache-misses: no hardware PMU"));
	simulated_init(&s);
	s.rows = s.cycles = -ENOENT;
	assert_int_equal(probe_of(&result, &s, "LLC-loads", &fault), -ENOENT);
	assert_non_null(strstr(fault.text, "Event=LLC-loads: the PMU does not count it"));
	s.rows = s.cycles = -EACCES;
	assert_int_equal(probe_of(&result, &s, "r1c4", &fault), -EACCES);
	assert_non_null(strstr(fault.text, "Event=r1c4: not permitted"));
	assert_int_equal(probe_of(&result, &s, "cpu_atom/event=1/", &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.text, "cpu_atom is no PMU"));
	s.rows = -EOPNOTSUPP;
	s.cycles = 0;
	assert_int_equal(probe_of(&result, &s, "instructions", &fault), 0);
	assert_int_equal(result.what.mode, SAMPLER_SOFTWARE);
	assert_string_equal(result.what.event, "instructions");
	assert_non_null(strstr(result.what.why_not_better, "no branch records"));
}

static void test_precision(void **state)
{
	struct probe_result result;
	struct simulated s;
	struct fault fault;

	simulated_init(&s);
	s.precise = 2;
	assert_int_equal(probe_of(&result, &s, "cycles:pp", &fault), 0);
	assert_string_equal(result.what.event, "cycles:pp");
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.precise_ip, 2);
	assert_int_equal(probe_of(&result, &s, "cycles:ppp", &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.text, "Event=cycles:ppp: the PMU has no such precision"));
}

static void test_periods_that_are_too_short(void **state)
{
	struct sampler_settings settings = usual;
	struct probe_result result;
	struct simulated s;
	struct fault fault;

	simulated_init(&s);
	settings.period = 9999;
	assert_int_equal(probe(&result, &s, &settings, &fault), -EINVAL);
	assert_string_equal(fault.text, "Period=9999 is too short for cycles: use 10000 or more");
	assert_int_equal(event_spec_parse("branch-misses", &settings.event), 0);
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.what.period, 9999);
	settings.period = 49;
	assert_int_equal(probe(&result, &s, &settings, &fault), -EINVAL);
	assert_int_equal(event_spec_parse("page-faults", &settings.event), 0);
	settings.period = 1;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_int_equal(result.what.period, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_event_of_the_pmu),
		cmocka_unit_test(test_an_event_of_the_kernel),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_what_cannot_be_had),
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_periods_that_are_too_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
