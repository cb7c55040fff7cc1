/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/builder/function-finder.h"
#include "tests/support/process-events.h"

#define PID    5
#define FROM   0x7000 /* the mapping: OFFSET on are its offsets in the file */
#define OFFSET 0x500

struct functions {
	struct function_range answer; /* in offsets */
	uint64_t asked;
	const char *path;
	bool known;
};

static bool find(void *userdata, const struct profile_object *object, uint64_t offset,
		 struct function_range *ret)
{
	struct functions *f = userdata;

	f->asked = offset;
	f->path = object->path;
	*ret = f->answer;
	return f->known;
}

static struct processes *make_mapped(void)
{
	struct processes *p = make();

	map(p, PID, FROM, "/bin/x");
	return p;
}

static void test_offsets_become_addresses(void **state)
{
	struct functions functions = {
		.answer = { .start = OFFSET + 0x80, .end = OFFSET + 0x120, .name = 7 },
		.known = true,
	};
	struct processes *p = make_mapped();
	struct function_finder finder = { p, find, &functions };
	struct function_range range;

	assert_true(function_finder_find(&finder, PID, FROM + 0x100, &range));
	assert_int_equal(functions.asked, OFFSET + 0x100);
	assert_string_equal(functions.path, "/bin/x");
	assert_int_equal(range.start, FROM + 0x80);
	assert_int_equal(range.end, FROM + 0x120);
	assert_int_equal(range.name, 7);
	processes_free(p);
}

static void test_what_nobody_knows(void **state)
{
	struct functions functions = { .answer = { .start = OFFSET, .end = OFFSET + 0x200 } };
	struct processes *p = make_mapped();
	struct function_finder finder = { p, find, &functions };
	struct function_range range;

	assert_false(function_finder_find(&finder, PID, FROM + 0x100, &range));
	functions.known = true;
	assert_true(function_finder_find(&finder, PID, FROM + 0x100, &range));
	assert_false(function_finder_find(&finder, PID, FROM - 1, &range));
	assert_false(function_finder_find(&finder, PID + 1, FROM + 0x100, &range));
	finder.find = NULL;
	assert_false(function_finder_find(&finder, PID, FROM + 0x100, &range));
	processes_free(p);
}

/* An answer that does not contain the address is none, whatever a file made its finder say. */
static void test_a_range_elsewhere_is_refused(void **state)
{
	static const struct function_range wrong[] = {
		{ .start = OFFSET + 0x101, .end = OFFSET + 0x200 },
		{ .start = OFFSET, .end = OFFSET + 0x100 },
		{ .start = OFFSET + 0x200, .end = OFFSET + 0x100 },
	};
	struct functions functions = { .known = true };
	struct processes *p = make_mapped();
	struct function_finder finder = { p, find, &functions };
	struct function_range range;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		functions.answer = wrong[i];
		assert_false(function_finder_find(&finder, PID, FROM + 0x100, &range));
	}
	processes_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offsets_become_addresses),
		cmocka_unit_test(test_what_nobody_knows),
		cmocka_unit_test(test_a_range_elsewhere_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
