/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include <linux/perf_event.h>

#include "common/util/macro.h"
#include "daemon/sampler/event-spec.h"

static struct event_spec parse(const char *text)
{
	struct event_spec spec;

	if (event_spec_parse(text, &spec) < 0)
		fail_msg("'%s' is refused", text);
	assert_string_equal(event_spec_text(&spec), text);
	return spec;
}

static void assert_event(const char *text, uint32_t type, uint64_t config)
{
	struct event_spec spec = parse(text);

	assert_int_equal(spec.type, type);
	assert_int_equal(spec.config, config);
	assert_int_equal(event_spec_is_software(&spec), type == PERF_TYPE_SOFTWARE);
	assert_true(event_spec_is_chosen(&spec));
	assert_true(spec.cycles > 0);
}

/* The numbers are those of linux/perf_event.h, which perf's manual has in this order. */
static void test_names(void **state)
{
	static const struct event_spec zero;
	struct event_spec spec;

	assert_event("instructions", 0, 1);
	assert_event("cache-references", 0, 2);
	assert_event("cache-misses", 0, 3);
	assert_event("branch-instructions", 0, 4);
	assert_event("branch-misses", 0, 5);
	assert_event("ref-cycles", 0, 9);
	assert_event("cpu-clock", 1, 0);
	assert_event("page-faults", 1, 2);
	assert_event("faults", 1, 2);
	assert_event("context-switches", 1, 3);
	assert_event("cs", 1, 3);
	assert_event("cpu-migrations", 1, 4);
	assert_event("minor-faults", 1, 5);
	assert_event("major-faults", 1, 6);
	assert_event("L1-dcache-loads", 3, 0);
	assert_event("L1-dcache-load-misses", 3, 0x10000);
	assert_event("LLC-store-misses", 3, 0x10102);
	assert_event("dTLB-load-misses", 3, 0x10003);
	assert_event("node-prefetches", 3, 0x206);
	assert_string_equal(event_spec_text(&zero), "cycles");
	assert_false(event_spec_is_chosen(&zero));
	spec = parse("cycles");
	assert_int_equal(spec.kind, EVENT_SPEC_CYCLES);
	assert_false(event_spec_is_chosen(&spec));
	spec = parse("branches");
	assert_int_equal(spec.kind, EVENT_SPEC_TAKEN_BRANCHES);
	assert_false(event_spec_is_chosen(&spec));
}

static void test_codes(void **state)
{
	assert_event("r1c4", PERF_TYPE_RAW, 0x1c4);
	assert_event("r1C4", PERF_TYPE_RAW, 0x1c4);
	assert_event("rffffffffffffffff", PERF_TYPE_RAW, UINT64_MAX);
	assert_int_equal(parse("cpu/event=0xc4,umask=0x4/").kind, EVENT_SPEC_TERMS);
	assert_int_equal(parse("cpu_atom/cache-misses/").kind, EVENT_SPEC_TERMS);
}

static void test_precision(void **state)
{
	struct event_spec spec = parse("cycles:pp");

	assert_int_equal(spec.precise, 2);
	assert_int_equal(spec.kind, EVENT_SPEC_CYCLES);
	assert_true(event_spec_is_chosen(&spec));
	assert_int_equal(parse("cycles:p").precise, 1);
	assert_int_equal(parse("r1c4:ppp").precise, 3);
	assert_int_equal(parse("cpu/event=0xc4/pp").precise, 2);
	assert_int_equal(parse("cpu/event=0xc4/:p").precise, 1);
	assert_int_equal(parse("cpu/event=0xc4/").precise, 0);
}

static void test_what_is_no_event(void **state)
{
	static const char *const wrong[] = {
		"",
		"cycle",
		"Cycles",
		"instructions ",
		"cycles,instructions",
		"cycles:u",
		"cycles:pppp",
		"cycles:",
		"cyclesp",
		":p",
		"p",
		"page-faults:p",
		"cpu-clock:pp",
		"r",
		"r0",
		"rxyz",
		"r1c4h",
		"r12345678123456781",
		"r-1",
		"r 1",
		"cpu/",
		"cpu//",
		"/event=1/",
		"cpu/event=1",
		"cpu/event=1/u",
		"cpu/event=1/x/",
		"cpu/../type/",
		"../cpu/event=1/",
		"cpu/event=1 2/",
		"L1-dcache",
		"L1-dcache-",
		"LLC-misses",
		"sched:sched_switch",
		"a-name-that-is-longer-than-any-event-has-a-right-to-be-of-"
		"this-machine",
	};
	struct event_spec spec, before;

	memset(&spec, 0x5a, sizeof(spec));
	before = spec;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (event_spec_parse(wrong[i], &spec) != -EINVAL)
			fail_msg("'%s' is taken", wrong[i]);
	assert_memory_equal(&spec, &before, sizeof(spec));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_precision),
		cmocka_unit_test(test_what_is_no_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
