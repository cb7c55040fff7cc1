/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probe on machines that are not there: what it finds, and what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/simulated-machine.h"

/* What is found of itself. */
static struct probe_result found(struct simulated *s)
{
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe(&result, s, &usual, &fault), 0);
	assert_true(result.what.period != 0 || result.what.mode == SAMPLER_SOFTWARE);
	assert_null(strchr(result.what.why_not_better, '\n'));
	assert_true(strlen(result.what.why_not_better) < sizeof(result.what.why_not_better) - 1);
	assert_true(strlen(result.what.note) < sizeof(result.what.note) - 1);
	return result;
}

static void assert_why(int rows, const char *expected)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	s.rows = rows;
	s.cycles = -ENOENT;
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_SOFTWARE);
	assert_string_equal(result.what.event, "cpu-clock");
	assert_int_equal(result.what.period, 0);
	assert_int_equal(result.what.depth, 0);
	assert_null(result.lbr);
	assert_non_null(strstr(result.what.why_not_better, expected));
}

static void test_why_not_better(void **state)
{
	assert_why(-ENOENT, "no hardware PMU");
	assert_why(-EOPNOTSUPP, "no branch records");
	assert_why(-EACCES, "not permitted");
	assert_why(-EPERM, "CAP_PERFMON and CAP_BPF");
	assert_why(-EBUSY, "in use");
	assert_why(-EINVAL, "filter");
	assert_why(-EIO, strerror(EIO));
}

static void assert_fault(int r, const char *expected)
{
	struct simulated s = { .cycles = -ENOENT, .rows = -ENOENT, .clock = r };
	struct probe_result result;
	struct fault fault;

	assert_int_equal(probe(&result, &s, &usual, &fault), r);
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
	struct sampler_settings settings = usual;
	struct simulated s = { .cycles = -ENOENT, .rows = -ENOENT };
	struct probe_result result;
	struct fault fault;

	settings.mode = SAMPLER_BRANCH;
	assert_int_equal(probe(&result, &s, &settings, &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.text, "mode branch: no hardware PMU"));
	settings.mode = SAMPLER_SOFTWARE;
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	assert_string_equal(result.what.why_not_better, "");

	simulated_init(&s);
	s.calls = -EOPNOTSUPP;
	settings.mode = SAMPLER_STACK;
	assert_int_equal(probe(&result, &s, &settings, &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.text, "mode stack: Intel LBR without a call-stack mode"));
}

static void test_the_clock(void **state)
{
	struct simulated s = { .cycles = -ENOENT, .rows = -ENOENT };
	struct probe_result result = found(&s);
	const struct perf_event_attr *attr = &result.events[BPF_EVENT_ANY].attr;

	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr->config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(attr->freq, 0);
	assert_int_equal(attr->sample_period, 10101010);
	assert_true(result.ticks_when_idle);
}

static void test_a_pmu_without_branch_records(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	s.rows = -EOPNOTSUPP;
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_SOFTWARE);
	assert_string_equal(result.what.event, "cycles");
	assert_false(result.ticks_when_idle);
	assert_null(result.lbr);
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.sample_type, 0);
	assert_non_null(strstr(result.what.why_not_better, "no branch records"));
}

static void test_intel(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_STACK_BRANCH);
	assert_string_equal(result.what.why_not_better, "");
	assert_string_equal(result.what.records, "Intel LBR");
	assert_string_equal(result.what.filter, "any,u,k");
	assert_string_equal(result.what.note, "");
	assert_int_equal(result.what.depth, 32);
	assert_int_equal(result.what.duplicate_depth, 32);
	assert_true(result.lbr->hw_idx);
	assert_false(result.lbr->wrong_path || result.leave_kernel || result.what.since_switch);
	assert_true(result.events[BPF_EVENT_ANY].used && result.events[BPF_EVENT_CALLS].used);
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.branch_sample_type, ANY | USER | KERNEL);
	assert_int_equal(result.events[BPF_EVENT_CALLS].attr.branch_sample_type, CALL_STACK | USER);
	assert_int_equal(result.events[BPF_EVENT_CALLS].attr.sample_type, PERF_SAMPLE_BRANCH_STACK);
}

static void test_intel_before_haswell(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	s.machine.pmus[0].depth = 16;
	s.calls = -EOPNOTSUPP;
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_BRANCH);
	assert_int_equal(result.what.depth, 16);
	assert_non_null(strstr(result.what.why_not_better, "since Haswell"));
	assert_false(result.events[BPF_EVENT_CALLS].used);
}

static void test_kernels_that_keep_no_call_stacks(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	s.machine.keeps_call_stacks = false;
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_STACK_BRANCH);
	assert_true(result.what.since_switch);
	assert_non_null(strstr(result.what.note, "6.15"));
}

static void test_architectural_lbr(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	machine_init(&s.machine, "GenuineIntel,6,143,8", " fpu arch_lbr ", 32);
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_STACK_BRANCH);
	assert_string_equal(result.what.records, "Intel architectural LBR");
	assert_false(result.lbr->hw_idx);
	assert_int_equal(result.what.duplicate_depth, 0);
}

static void test_amd_lbr_ext_v2(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	machine_init(&s.machine, "AuthenticAMD,25,17,1", " fpu amd_lbr_v2 ", 0);
	s.calls = -EOPNOTSUPP;
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_BRANCH);
	assert_string_equal(result.what.records, "AMD LbrExtV2");
	assert_non_null(strstr(result.what.note, "no cycles"));
	assert_non_null(strstr(result.what.why_not_better, "frame pointers"));
	assert_int_equal(result.what.depth, 16);
	assert_true(result.lbr->wrong_path);
	assert_false(result.lbr->hw_idx || result.events[BPF_EVENT_CALLS].used);
}

static void test_amd_brs(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	machine_init(&s.machine, "AuthenticAMD,25,1,1", " fpu brs ", 16);
	s.calls = -EOPNOTSUPP;
	s.filters = ANY | USER | KERNEL;
	s.taken = 0xc4;
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_BRANCH);
	assert_string_equal(result.what.records, "AMD BRS");
	assert_string_equal(result.what.event, "branches");
	assert_int_equal(result.events[BPF_EVENT_ANY].attr.freq, 0);
	assert_true(result.what.period > 16);
}

static void test_arm_brbe(void **state)
{
	struct simulated s;
	struct probe_result result;

	simulated_init(&s);
	machine_init(&s.machine, "", "", 64);
	s.machine.arm = true;
	strcpy(s.machine.pmus[0].name, "armv8_pmuv3_0");
	strcpy(s.machine.pmus[0].cpus, "0-7");
	s.calls = -EOPNOTSUPP;
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_BRANCH);
	assert_string_equal(result.what.records, "Arm BRBE");
	assert_int_equal(result.what.depth, 64);
	assert_false(result.lbr->hw_idx);
}

static void hybrid_init(struct simulated *s)
{
	*s = (struct simulated){ 0 };
	machine_init(&s->machine, "GenuineIntel,6,151,2", " arch_lbr ", 0);
	s->machine.pmus[0] =
		(struct pmu){ .name = "cpu_atom", .type = 10, .depth = 32, .cpus = "16-23" };
	s->machine.pmus[1] =
		(struct pmu){ .name = "cpu_core", .type = 4, .depth = 32, .cpus = "0-15" };
	s->machine.n_pmus = 2;
}

static void test_hybrid_processors(void **state)
{
	struct simulated s;
	struct probe_result result;
	struct perf_event_attr attr;

	hybrid_init(&s);
	result = found(&s);
	assert_int_equal(result.what.mode, SAMPLER_STACK_BRANCH);
	attr = result.events[BPF_EVENT_CALLS].attr;
	probe_adapt(&s.machine, 17, &attr);
	assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(attr.config, 10ull << PERF_PMU_TYPE_SHIFT | PERF_COUNT_HW_CPU_CYCLES);
	attr = result.events[BPF_EVENT_CALLS].attr;
	probe_adapt(&s.machine, 15, &attr);
	assert_int_equal(attr.config, 4ull << PERF_PMU_TYPE_SHIFT | PERF_COUNT_HW_CPU_CYCLES);
}

static void test_branches_of_hybrid_processors(void **state)
{
	struct sampler_settings settings = usual;
	struct simulated s;
	struct probe_result result;
	struct perf_event_attr attr;
	struct fault fault;

	hybrid_init(&s);
	assert_int_equal(event_spec_parse("branches", &settings.event), 0);
	assert_int_equal(probe(&result, &s, &settings, &fault), 0);
	attr = result.events[BPF_EVENT_ANY].attr;
	probe_adapt(&s.machine, 17, &attr);
	assert_int_equal(attr.type, 10);
	assert_int_equal(attr.config, 0xc0c4);
	attr = result.events[BPF_EVENT_ANY].attr;
	probe_adapt(&s.machine, 0, &attr);
	assert_int_equal(attr.type, 4);
	assert_int_equal(attr.config, 0x20c4);
}

static void test_a_pmu_whose_branches_are_not_known(void **state)
{
	struct sampler_settings settings = usual;
	struct simulated s;
	struct probe_result result;
	struct fault fault;

	simulated_init(&s);
	strcpy(s.machine.pmus[0].model, "goldmont");
	assert_int_equal(event_spec_parse("branches", &settings.event), 0);
	assert_int_equal(probe(&result, &s, &settings, &fault), -EOPNOTSUPP);
	assert_non_null(strstr(fault.text, "Event=cycles"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_why_not_better),
		cmocka_unit_test(test_no_way_at_all),
		cmocka_unit_test(test_a_mode_that_the_machine_has_not),
		cmocka_unit_test(test_the_clock),
		cmocka_unit_test(test_a_pmu_without_branch_records),
		cmocka_unit_test(test_intel),
		cmocka_unit_test(test_intel_before_haswell),
		cmocka_unit_test(test_kernels_that_keep_no_call_stacks),
		cmocka_unit_test(test_architectural_lbr),
		cmocka_unit_test(test_amd_lbr_ext_v2),
		cmocka_unit_test(test_amd_brs),
		cmocka_unit_test(test_arm_brbe),
		cmocka_unit_test(test_hybrid_processors),
		cmocka_unit_test(test_branches_of_hybrid_processors),
		cmocka_unit_test(test_a_pmu_whose_branches_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
