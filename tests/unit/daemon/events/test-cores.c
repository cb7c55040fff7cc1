/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/events/cores.h"
#include "tests/support/temporary-root.h"

#define PMUS "/sys/bus/event_source/devices/"

static void test_only_pmus_of_cpus(void **state)
{
	put(PMUS "cpu_core/type", "4\n");
	put(PMUS "cpu_core/cpus", "0-15\n");
	put(PMUS "cpu_atom/type", "10\n");
	put(PMUS "cpu_atom/cpus", "16-23\n");
	put(PMUS "kprobe/type", "8\n");
	put(PMUS "uncore_imc_0/type", "14\n");
	put(PMUS "uncore_imc_0/cpumask", "0\n");
	put(PMUS "broken/cpus", "0\n");
	assert_true(cores_have(root, 4));
	assert_true(cores_have(root, 10));
	assert_false(cores_have(root, 8));
	assert_false(cores_have(root, 14));
	assert_false(cores_have(root, 0));
}

static void test_one_type_of_core(void **state)
{
	put(PMUS "cpu/type", "4\n");
	assert_true(cores_have(root, 4));
	assert_false(cores_have(root, 8));
}

static void test_without_any(void **state)
{
	assert_false(cores_have(root, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_only_pmus_of_cpus, temporary_root_set_up,
						temporary_root_tear_down),
		cmocka_unit_test_setup_teardown(test_one_type_of_core, temporary_root_set_up,
						temporary_root_tear_down),
		cmocka_unit_test_setup_teardown(test_without_any, temporary_root_set_up,
						temporary_root_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
