/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "daemon/sampler/event-attr.h"
#include "tests/support/temporary-root.h"

#define PMUS "/sys/bus/event_source/devices/"

static void put_pmu(void)
{
	put(PMUS "cpu/type", "4\n");
	put(PMUS "cpu/format/event", "config:0-7\n");
	put(PMUS "cpu/format/umask", "config:8-15\n");
	put(PMUS "cpu/format/edge", "config:18\n");
	put(PMUS "cpu/format/any_thread", "config:0-7,32-35\n");
	put(PMUS "cpu/format/ldlat", "config1:0-15\n");
	put(PMUS "cpu/format/strange", "config9:0-7\n");
	put(PMUS "cpu/events/cache-misses", "event=0x2e,umask=0x41\n");
	put(PMUS "cpu/events/loop", "loop\n");
}

static int set(struct perf_event_attr *ret, const char *text, struct fault *fault)
{
	const struct pmu *only;
	struct event_spec spec;
	struct machine machine;

	*ret = (struct perf_event_attr){};
	machine_read(&machine, root);
	assert_int_equal(event_spec_parse(text, &spec), 0);
	return event_attr_set(ret, &only, &spec, &machine, fault);
}

static void assert_config(const char *text, uint64_t config, uint64_t config1, unsigned int precise)
{
	struct perf_event_attr attr;
	struct fault fault;

	if (set(&attr, text, &fault) < 0)
		fail_msg("%s", fault.text);
	assert_int_equal(attr.type, PERF_TYPE_RAW);
	assert_int_equal(attr.config, config);
	assert_int_equal(attr.config1, config1);
	assert_int_equal(attr.precise_ip, precise);
}

static void test_fields(void **state)
{
	put_pmu();
	assert_config("cpu/event=0xc4,umask=0x4/", 0x4c4, 0, 0);
	assert_config("cpu/umask=4,event=196/pp", 0x4c4, 0, 2);
	assert_config("cpu/event=0xcd,umask=1,ldlat=30/:p", 0x1cd, 30, 1);
	assert_config("cpu/edge,event=1/", 0x40001, 0, 0);
	assert_config("cpu/any_thread=0xabc/", 0xa000000bc, 0, 0);
	assert_config("cpu/cache-misses/", 0x412e, 0, 0);
	assert_config("cpu/cache-misses,edge/", 0x4412e, 0, 0);
	assert_config("cpu/config=0x1c4,config1=7/", 0x1c4, 7, 0);
	assert_config("r1c4:p", 0x1c4, 0, 1);
}

static void assert_refused(const char *text, const char *why)
{
	struct perf_event_attr attr;
	struct fault fault;

	assert_int_equal(set(&attr, text, &fault), -EOPNOTSUPP);
	if (!strstr(fault.text, why) || !strstr(fault.text, text))
		fail_msg("%s", fault.text);
}

static void test_what_the_pmu_has_not(void **state)
{
	put_pmu();
	assert_refused("cpu/events=1/", "'events' is no field");
	assert_refused("cpu/event=0x1c4/", "'0x1c4' is too large");
	assert_refused("cpu/event=c4/", "'c4' is not a number");
	assert_refused("cpu/event=-1/", "'-1' is not a number");
	assert_refused("cpu/event=99999999999999999999/", "is not a number");
	assert_refused("cpu/event=/", "is not a number");
	assert_refused("cpu/branch-misses/", "'branch-misses' is no field and no event");
	assert_refused("cpu/ldlat=0x10000/", "too large");
	assert_refused("cpu/strange=1/", "too large");
	assert_refused("cpu/loop/", "'loop' is no field");
	assert_refused("cpu/event=1,,umask=1/", "'' is no field");
	assert_refused("cpu/.=1/", "'.' is no field");
	assert_refused("cpu/..,event=1/", "'..' is no field");
	assert_refused("cpu_core/event=1/",
		       "cpu_core is no PMU of this machine's CPUs: use one of cpu");
	assert_refused("uncore_imc/event=1/", "is no PMU");
}

static void test_without_a_pmu(void **state)
{
	assert_refused("cpu/event=0xc4/", "no hardware PMU");
}

static void test_types_of_cores(void **state)
{
	const struct pmu *only = NULL;
	struct perf_event_attr attr = {};
	struct event_spec spec;
	struct machine machine;
	struct fault fault;

	put(PMUS "cpu_core/type", "4\n");
	put(PMUS "cpu_core/cpus", "0-15\n");
	put(PMUS "cpu_atom/type", "10\n");
	put(PMUS "cpu_atom/cpus", "16-23\n");
	put(PMUS "cpu_atom/format/event", "config:0-7\n");
	machine_read(&machine, root);
	assert_int_equal(event_spec_parse("cpu_atom/event=0xc4/", &spec), 0);
	assert_int_equal(event_attr_set(&attr, &only, &spec, &machine, &fault), 0);
	assert_int_equal(attr.type, 10);
	assert_string_equal(only->name, "cpu_atom");
}

#define WITH_ROOT(test) \
	cmocka_unit_test_setup_teardown(test, temporary_root_set_up, temporary_root_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ROOT(test_fields),
		WITH_ROOT(test_what_the_pmu_has_not),
		WITH_ROOT(test_without_a_pmu),
		WITH_ROOT(test_types_of_cores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
