/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What machines say of themselves, in a /proc and a /sys made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "daemon/sampler/lbr.h"
#include "daemon/sampler/machine.h"
#include "tests/support/temporary-root.h"

#define PMUS "/sys/bus/event_source/devices/"

static void test_one_type_of_core(void **state)
{
	struct machine m;

	put("/proc/cpuinfo", "processor\t: 0\n"
			     "vendor_id\t: GenuineIntel\n"
			     "cpu family\t: 6\n"
			     "model\t\t: 85\n"
			     "model name\t: Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz\n"
			     "stepping\t: 4\n"
			     "cpu MHz\t\t: 1200.500\n"
			     "flags\t\t: fpu vme arch_perfmon\n"
			     "\n"
			     "processor\t: 1\n"
			     "vendor_id\t: Another\n");
	put(PMUS "cpu/type", "4\n");
	put(PMUS "cpu/caps/branches", "32\n");
	put(PMUS "cpu/caps/pmu_name", "skylake\n");
	put(PMUS "software/type", "1\n");
	put(PMUS "uncore_imc_0/type", "15\n");
	put(PMUS "uncore_imc_0/cpumask", "0\n");
	machine_read(&m, root);
	assert_string_equal(m.cpuid, "GenuineIntel,6,85,4");
	assert_int_equal(m.hz, 1200500000);
	assert_false(m.arm);
	assert_true(machine_has_flag(&m, "vme") && machine_has_flag(&m, "arch_perfmon"));
	assert_false(machine_has_flag(&m, "arch") || machine_has_flag(&m, "arch_lbr"));
	assert_int_equal(m.n_pmus, 1);
	assert_string_equal(m.pmus[0].name, "cpu");
	assert_int_equal(m.pmus[0].type, 4);
	assert_int_equal(m.pmus[0].depth, 32);
	assert_string_equal(m.pmus[0].model, "skylake");
	assert_ptr_equal(machine_pmu(&m, 77), &m.pmus[0]);
	assert_string_equal(lbr_of(&m)->name, "Intel LBR");
	assert_int_equal(lbr_taken_event(&m, &m.pmus[0]), 0x20c4);

	put("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3700000\n");
	machine_read(&m, root);
	assert_int_equal(m.hz, 3700000000);
}

static void test_two_types_of_cores(void **state)
{
	struct machine m;

	put(PMUS "cpu_core/type", "4\n");
	put(PMUS "cpu_core/cpus", "0-15\n");
	put(PMUS "cpu_core/caps/branches", "32\n");
	put(PMUS "cpu_atom/type", "10\n");
	put(PMUS "cpu_atom/cpus", "16-19,22\n");
	machine_read(&m, root);
	assert_int_equal(m.n_pmus, 2);
	assert_string_equal(machine_pmu(&m, 15)->name, "cpu_core");
	assert_string_equal(machine_pmu(&m, 16)->name, "cpu_atom");
	assert_string_equal(machine_pmu(&m, 22)->name, "cpu_atom");
	assert_null(machine_pmu(&m, 20));
	assert_int_equal(machine_pmu(&m, 16)->depth, 0);
}

static void test_arm(void **state)
{
	struct machine m;

	put("/proc/cpuinfo", "processor\t: 0\n"
			     "BogoMIPS\t: 50.00\n"
			     "Features\t: fp asimd\n"
			     "CPU implementer\t: 0x41\n");
	put(PMUS "armv8_pmuv3_0/type", "8\n");
	put(PMUS "armv8_pmuv3_0/cpus", "0-3\n");
	machine_read(&m, root);
	assert_true(m.arm);
	assert_string_equal(m.cpuid, "");
	assert_int_equal(m.hz, 0);
	assert_int_equal(machine_pmu(&m, 3)->type, 8);
	assert_string_equal(lbr_of(&m)->name, "Arm BRBE");
	assert_int_equal(lbr_taken_event(&m, &m.pmus[0]), 0);
}

static void test_nothing_to_read(void **state)
{
	struct machine m;

	machine_read(&m, root);
	assert_int_equal(m.n_pmus, 0);
	assert_null(machine_pmu(&m, 0));
	assert_string_equal(lbr_of(&m)->name, "branch records");
}

static const char *lbr_name(const char *vendor, const char *flags)
{
	char text[256];
	struct machine m;

	snprintf(text, sizeof(text), "vendor_id\t: %s\nflags\t: %s\n", vendor, flags);
	put("/proc/cpuinfo", text);
	machine_read(&m, root);
	return lbr_of(&m)->name;
}

static void test_kinds_of_branch_records(void **state)
{
	assert_string_equal(lbr_name("GenuineIntel", "fpu arch_lbr"), "Intel architectural LBR");
	assert_string_equal(lbr_name("GenuineIntel", "fpu"), "Intel LBR");
	assert_string_equal(lbr_name("AuthenticAMD", "fpu amd_lbr_v2"), "AMD LbrExtV2");
	assert_string_equal(lbr_name("AuthenticAMD", "brs fpu"), "AMD BRS");
	assert_string_equal(lbr_name("AuthenticAMD", "fpu ibrs"), "branch records");
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, temporary_root_set_up, temporary_root_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_type_of_core), TEST(test_two_types_of_cores),      TEST(test_arm),
		TEST(test_nothing_to_read),  TEST(test_kinds_of_branch_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
