/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "daemon/naming/refused.h"

struct seen {
	size_t n;
	char path[256], reason[128]; /* of the last one */
};

static void see(const char *path, const char *reason, void *userdata)
{
	struct seen *seen = userdata;

	seen->n++;
	strcpy(seen->path, path);
	strcpy(seen->reason, reason);
}

static void test_is_filled_anew(void **state)
{
	struct seen seen = {};
	struct refused list;

	refused_init(&list);
	for (size_t round = 3; round > 0; round--) {
		refused_begin(&list);
		for (size_t i = 0; i < round; i++)
			refused_add(&list, "/a", "its parser crashed");
		refused_end(&list);
	}
	refused_for_each(&list, see, &seen);
	assert_int_equal(seen.n, 1);
	refused_done(&list);
}

static void test_no_more_than_there_is_room(void **state)
{
	char path[1000] = "", reason[1000] = "";
	struct seen seen = {};
	struct refused list;

	memset(path, 'p', sizeof(path) - 1);
	memset(reason, 'r', sizeof(reason) - 1);
	refused_init(&list);
	refused_begin(&list);
	for (size_t i = 0; i < 2 * REFUSED_MAX; i++)
		refused_add(&list, path, reason);
	refused_end(&list);
	refused_for_each(&list, see, &seen);
	assert_int_equal(seen.n, REFUSED_MAX);
	assert_int_equal(strlen(seen.path), sizeof(seen.path) - 1);
	assert_int_equal(strlen(seen.reason), sizeof(seen.reason) - 1);
	refused_done(&list);
}

static void test_the_path_is_not_told_twice(void **state)
{
	static const struct {
		const char *path, *reason, *expected;
	} cases[] = {
		{ "/a", "/a: took too much CPU", "took too much CPU" },
		{ "/a", "/ab: took too much CPU", "/ab: took too much CPU" },
		{ "/a", "took too much CPU", "took too much CPU" },
		{ "/a", "/a", "/a" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct seen seen = {};
		struct refused list;

		refused_init(&list);
		refused_begin(&list);
		refused_add(&list, cases[i].path, cases[i].reason);
		refused_end(&list);
		refused_for_each(&list, see, &seen);
		assert_string_equal(seen.path, cases[i].path);
		assert_string_equal(seen.reason, cases[i].expected);
		refused_done(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_filled_anew),
		cmocka_unit_test(test_no_more_than_there_is_room),
		cmocka_unit_test(test_the_path_is_not_told_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
