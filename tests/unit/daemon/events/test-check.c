/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/events/check.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* As cpu-events.c and probe.c make them. */
static struct perf_event_attr common(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.config = config,
		.size = sizeof(struct perf_event_attr),
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 65536,
		.disabled = 1,
	};
}

static struct perf_event_attr clock_event(void)
{
	struct perf_event_attr attr = common(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	attr.sample_period = 10101010;
	attr.exclude_guest = attr.exclude_kernel = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

static struct perf_event_attr cycles_event(void)
{
	struct perf_event_attr attr = clock_event();

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER;
	return attr;
}

static struct perf_event_attr tasks_event(void)
{
	struct perf_event_attr attr = common(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.ksymbol = 1;
	return attr;
}

static int check(struct perf_event_attr attr)
{
	return check_event(&attr, false);
}

/* Of a PMU of CPUs with a type of its own. */
static int check_core(struct perf_event_attr attr)
{
	return check_event(&attr, true);
}

static void test_allows_what_branchd_uses(void **state)
{
	struct perf_event_attr attr = common(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);

	attr.sample_period = 1;
	assert_int_equal(check(attr), 0);
	assert_int_equal(check(clock_event()), 0);
	assert_int_equal(check(cycles_event()), 0);
	assert_int_equal(check(tasks_event()), 0);
	attr = cycles_event();
	attr.config |= 10ull << PERF_PMU_TYPE_SHIFT; /* a hybrid processor's small cores */
	assert_int_equal(check(attr), 0);
	attr.type = PERF_TYPE_RAW;
	attr.config = 0x20c4;
	assert_int_equal(check(attr), 0);
	attr.sample_period = 1ull << 40; /* the wiper */
	assert_int_equal(check(attr), 0);
}

static void test_allows_what_the_pmus_of_cpus_count(void **state)
{
	struct perf_event_attr attr = cycles_event();

	for (attr.config = 0; attr.config < PERF_COUNT_HW_MAX; attr.config++)
		assert_int_equal(check(attr), 0);
	assert_int_equal(check(attr), -EPERM);
	attr.type = PERF_TYPE_HW_CACHE;
	attr.config = PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
	assert_int_equal(check(attr), 0);
	attr.config = PERF_COUNT_HW_CACHE_MAX;
	assert_int_equal(check(attr), -EPERM);
	attr.config = PERF_COUNT_HW_CACHE_OP_MAX << 8;
	assert_int_equal(check(attr), -EPERM);
	attr.config = PERF_COUNT_HW_CACHE_RESULT_MAX << 16;
	assert_int_equal(check(attr), -EPERM);
	attr = cycles_event();
	attr.precise_ip = 2;
	assert_int_equal(check(attr), 0);
	attr.type = PERF_TYPE_RAW;
	attr.config = 0x1b7;
	attr.config1 = attr.config2 = 0x10003;
	assert_int_equal(check(attr), 0);
	attr.type = 10;
	assert_int_equal(check_core(attr), 0);
}

static void test_refuses_other_events(void **state)
{
	struct perf_event_attr attr = clock_event();

	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	assert_int_equal(check(attr), 0);
	attr.precise_ip = 1;
	assert_int_equal(check(attr), -EPERM);
	attr = clock_event();
	attr.config = PERF_COUNT_SW_CGROUP_SWITCHES;
	assert_int_equal(check(attr), -EPERM);
	attr = cycles_event();
	attr.config1 = 1;
	assert_int_equal(check(attr), -EPERM);
	attr = cycles_event();
	attr.config = 0xc4;
	attr.type = PERF_TYPE_TRACEPOINT;
	assert_int_equal(check_core(attr), -EPERM);
	attr.type = PERF_TYPE_BREAKPOINT;
	assert_int_equal(check_core(attr), -EPERM);
	attr.type = 9; /* kprobe's, say: what it probes is in config1 */
	assert_int_equal(check(attr), -EPERM);
	attr.config1 = 4711;
	assert_int_equal(check(attr), -EPERM);
}

/* Registers and stacks of user space, physical addresses, contexts: each bit that is not ours. */
static void test_refuses_other_contents(void **state)
{
	const uint64_t ours =
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK;

	for (int i = 0; i < 64; i++) {
		struct perf_event_attr attr = cycles_event();

		attr.sample_type |= 1ull << i;
		assert_int_equal(check(attr), ours & (1ull << i) ? 0 : -EPERM);
	}
}

/* Each byte of the attr counts: what is not known may mean anything. */
static void test_refuses_other_fields(void **state)
{
	const size_t ours[] = {
		offsetof(struct perf_event_attr, sample_period), /* 8 bytes each */
		offsetof(struct perf_event_attr, branch_sample_type),
	};
	const size_t watermark = offsetof(struct perf_event_attr, wakeup_watermark);

	for (size_t i = offsetof(struct perf_event_attr, read_format) + 8;
	     i < sizeof(struct perf_event_attr); i++) {
		struct perf_event_attr attr = cycles_event();

		if ((i >= ours[0] && i < ours[0] + 8) || (i >= ours[1] && i < ours[1] + 8) ||
		    (i >= watermark && i < watermark + 4))
			continue;
		((unsigned char *)&attr)[i] ^= 0x80;
		if (check(attr) == 0) /* a flag that may have either value */
			assert_in_range(i, 40, 47);
	}
}

static void test_tasks_are_reported_by_their_own_event(void **state)
{
	struct perf_event_attr attr = clock_event();

	attr.mmap = 1;
	assert_int_equal(check(attr), -EPERM);
	attr = tasks_event();
	attr.mmap_data = 1;
	assert_int_equal(check(attr), -EPERM);
	attr = tasks_event();
	attr.inherit = 1;
	assert_int_equal(check(attr), -EPERM);
	attr = tasks_event();
	attr.bpf_event = 1;
	assert_int_equal(check(attr), -EPERM);
	attr = tasks_event();
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	assert_int_equal(check(attr), -EPERM);
}

static void test_refuses_an_event_without_a_period(void **state)
{
	struct perf_event_attr attr = clock_event();

	attr.sample_period = 0;
	assert_int_equal(check(attr), -EPERM);
	attr = clock_event();
	attr.freq = 1;
	assert_int_equal(check(attr), -EPERM);
}

static void test_refuses_long_lists(void **state)
{
	struct events_program program = { .n_pids = BPF_MAX_WANTED, .n_uids = BPF_MAX_WANTED };

	assert_int_equal(check_program(&program), 0);
	program.n_pids++;
	assert_int_equal(check_program(&program), -EINVAL);
	program.n_pids = 0;
	program.n_uids = UINT32_MAX;
	assert_int_equal(check_program(&program), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allows_what_branchd_uses),
		cmocka_unit_test(test_allows_what_the_pmus_of_cpus_count),
		cmocka_unit_test(test_refuses_other_events),
		cmocka_unit_test(test_refuses_other_contents),
		cmocka_unit_test(test_refuses_other_fields),
		cmocka_unit_test(test_tasks_are_reported_by_their_own_event),
		cmocka_unit_test(test_refuses_an_event_without_a_period),
		cmocka_unit_test(test_refuses_long_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
