/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probe on machines that are not there: what it finds, and what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/probe.h"

/* What the kernel answers. */
struct machine {
	int rows;  /* to cycles with a branch stack: 0, or -errno */
	int clock; /* to cpu-clock */
};

static int answer(const struct perf_event_attr *attr, int cpu, void *userdata)
{
	const struct machine *m = userdata;
	int r = attr->type == PERF_TYPE_HARDWARE ? m->rows : m->clock;

	assert_int_equal(cpu, 3);
	return r < 0 ? r : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int probe(struct probe_result *ret, int rows, int clock, enum sampler_mode mode,
		 struct fault *fault)
{
	const struct sampler_settings settings = { .mode = mode, .frequency = 99, .kernel = true };
	struct machine m = { .rows = rows, .clock = clock };

	fault->text[0] = '\0';
	return probe_run(ret, &settings, 3, answer, &m, fault);
}

static void assert_why(int errno_of_rows, const char *expected)
{
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe(&result, errno_of_rows, 0, SAMPLER_AUTO, &fault), 0);
	assert_int_equal(result.what.mode, SAMPLER_SOFTWARE);
	assert_string_equal(result.what.event, "cpu-clock");
	assert_non_null(strstr(result.what.why_not_better, expected));
	assert_true(strlen(result.what.why_not_better) < sizeof(result.what.why_not_better) - 1);
	assert_null(strchr(result.what.why_not_better, '\n'));
}

static void test_why_not_better(void **state)
{
	assert_why(-ENOENT, "no hardware PMU");
	assert_why(-EOPNOTSUPP, "no branch records");
	assert_why(-EACCES, "not permitted");
	assert_why(-EPERM, "CAP_PERFMON");
	assert_why(-EBUSY, "in use");
	assert_why(-EINVAL, "filter");
	assert_why(-EIO, strerror(EIO));
	assert_why(0, "does not read");
}

static void assert_fault(int r, const char *expected)
{
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe(&result, -ENOENT, r, SAMPLER_AUTO, &fault), r);
	assert_non_null(strstr(fault.text, expected));
}

static void test_no_way_at_all(void **state)
{
	assert_fault(-EACCES, "not permitted");
	assert_fault(-EMFILE, "LimitNOFILE");
	assert_fault(-ENOSYS, "CONFIG_PERF_EVENTS");
	assert_fault(-ENODEV, strerror(ENODEV));
}

static void test_a_mode_that_the_machine_has_not(void **state)
{
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe(&result, -ENOENT, 0, SAMPLER_BRANCH, &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.text, "mode branch: no hardware PMU"));
	assert_int_equal(probe(&result, -ENOENT, 0, SAMPLER_SOFTWARE, &fault), 0);
}

static void test_the_clock(void **state)
{
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe(&result, -ENOENT, 0, SAMPLER_AUTO, &fault), 0);
	assert_int_equal(result.attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(result.attr.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(result.attr.freq, 0);
	assert_int_equal(result.attr.sample_period, 10101010);
	assert_true(result.ticks_when_idle);
}

static void test_frequencies_that_are_none(void **state)
{
	struct sampler_settings settings = { .frequency = 0 };
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe_run(&result, &settings, 3, answer, NULL, &fault), -EINVAL);
	settings.frequency = 1000000;
	assert_int_equal(probe_run(&result, &settings, 3, answer, NULL, &fault), -EINVAL);
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
		cmocka_unit_test(test_why_not_better),
		cmocka_unit_test(test_no_way_at_all),
		cmocka_unit_test(test_a_mode_that_the_machine_has_not),
		cmocka_unit_test(test_the_clock),
		cmocka_unit_test(test_frequencies_that_are_none),
		cmocka_unit_test(test_names_of_modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
