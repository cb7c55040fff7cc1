/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include <errno.h>
#include <string.h>

#include "common/util/macro.h"
#include "daemon/sampler/cpu-list.h"

#define N 12

/* @expected has a 1 for each CPU on line. */
static void assert_list(const char *text, const char *expected)
{
	bool flags[N];
	char seen[N + 1] = "";

	memset(flags, 1, sizeof(flags));
	assert_int_equal(cpu_list_parse(flags, N, text), 0);
	for (int i = 0; i < N; i++)
		seen[i] = flags[i] ? '1' : '0';
	assert_string_equal(seen, expected);
}

static void test_lists(void **state)
{
	assert_list("0\n", "100000000000");
	assert_list("0-1\n", "110000000000");
	assert_list("0-3,8\n", "111100001000");
	assert_list("1,3,5-6,11", "010101100001");
	assert_list("\n", "000000000000");
}

static void test_one_of_a_list(void **state)
{
	assert_true(cpu_list_has("0-3,8,10-11", 0) && cpu_list_has("0-3,8,10-11", 3));
	assert_true(cpu_list_has("0-3,8,10-11", 8) && cpu_list_has("0-3,8,10-11", 11));
	assert_false(cpu_list_has("0-3,8,10-11", 4) || cpu_list_has("0-3,8,10-11", 12));
	assert_false(cpu_list_has("", 0) || cpu_list_has("x", 0) || cpu_list_has("3-", 3));
}

static void test_more_cpus_than_there_may_be(void **state)
{
	assert_list("10-4000000000,17", "000000000011");
}

static void test_no_lists(void **state)
{
	bool flags[N];

	assert_int_equal(cpu_list_parse(flags, N, "x"), -EBADMSG);
	assert_int_equal(cpu_list_parse(flags, N, "0-"), -EBADMSG);
	assert_int_equal(cpu_list_parse(flags, N, "-3"), -EBADMSG);
	assert_int_equal(cpu_list_parse(flags, N, "0;1"), -EBADMSG);
}

static void test_this_machine(void **state)
{
	bool online[4096];
	int fd = cpu_list_open_online();

	assert_true(fd >= 0);
	for (int i = 0; i < 2; i++) { /* it may be read again */
		assert_int_equal(cpu_list_read_online(fd, online, ARRAY_SIZE(online)), 0);
		assert_true(online[cpu_list_first_online()]);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_one_of_a_list),
		cmocka_unit_test(test_more_cpus_than_there_may_be),
		cmocka_unit_test(test_no_lists),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
