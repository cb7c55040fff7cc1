/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "daemon/unwind/short-stacks.h"

static void add(struct short_stacks *stacks, const char *path, uint64_t n, bool no_table)
{
	const struct profile_object object = { .kind = OBJECT_FILE, .path = path };

	for (uint64_t i = 0; i < n; i++)
		short_stacks_add(stacks, &object, no_table);
}

static void test_the_most_come_first(void **state)
{
	struct short_stacks_object shown[SHORT_STACKS_SHOWN];
	struct short_stacks stacks;

	short_stacks_init(&stacks);
	assert_int_equal(short_stacks_get(&stacks, shown), 0);
	add(&stacks, "/a", 2, true);
	add(&stacks, "/b", 5, false);
	add(&stacks, "/a", 1, false);
	assert_int_equal(short_stacks_get(&stacks, shown), 2);
	assert_string_equal(shown[0].path, "/b");
	assert_int_equal(shown[0].n, 5);
	assert_int_equal(shown[0].n_no_table, 0);
	assert_string_equal(shown[1].path, "/a");
	assert_int_equal(shown[1].n, 3);
	assert_int_equal(shown[1].n_no_table, 2);
	short_stacks_done(&stacks);
}

/* Of more objects than there is room for, those stay that matter. */
static void test_a_frequent_object_stays_among_many(void **state)
{
	struct short_stacks_object shown[SHORT_STACKS_SHOWN];
	struct short_stacks stacks;
	char path[32];

	short_stacks_init(&stacks);
	for (int i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "/tmp/%d", i);
		add(&stacks, path, 1, false);
		add(&stacks, "/frequent", i % 8 == 0, true);
	}
	assert_int_equal(short_stacks_get(&stacks, shown), SHORT_STACKS_SHOWN);
	assert_string_equal(shown[0].path, "/frequent");
	/* its own 1250, and at most what one of all places can have */
	assert_in_range(shown[0].n, 1250, 1250 + 11250 / SHORT_STACKS_PLACES);
	short_stacks_done(&stacks);
}

static void test_long_paths_are_truncated(void **state)
{
	struct short_stacks_object shown[SHORT_STACKS_SHOWN];
	struct short_stacks stacks;
	char path[1000];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	short_stacks_init(&stacks);
	add(&stacks, path, 2, false);
	assert_int_equal(short_stacks_get(&stacks, shown), 1);
	assert_int_equal(shown[0].n, 2);
	assert_int_equal(strlen(shown[0].path), sizeof(shown[0].path) - 1);
	short_stacks_done(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_most_come_first),
		cmocka_unit_test(test_a_frequent_object_stays_among_many),
		cmocka_unit_test(test_long_paths_are_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
