/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "daemon/naming/budget.h"

static const struct budget_limits limits = { .files = 16, .bytes = 1600, .us = 10000000 };

static const struct file_identity of_root = { .n_bytes = 10, .trusted = true };

static struct file_identity of_user(uint32_t uid, uint64_t n_bytes)
{
	return (struct file_identity){ .n_bytes = n_bytes, .uid = uid };
}

static unsigned int take_all(struct budget *budget, const struct file_identity *file, bool hot)
{
	unsigned int n = 0;

	while (n < 100 && budget_take(budget, file, hot))
		n++;
	return n;
}

static void test_a_user_gets_a_quarter(void **state)
{
	struct file_identity one = of_user(1000, 10), other = of_user(1001, 10);
	struct budget budget;

	budget_begin(&budget, &limits);
	assert_int_equal(take_all(&budget, &one, true), 4);
	assert_int_equal(take_all(&budget, &other, true), 4);
	assert_int_equal(take_all(&budget, &of_root, true), 8);
	assert_int_equal(budget.n_refused, 3);
}

/* Whoever has a user namespace has many uids. */
static void test_all_users_get_half(void **state)
{
	struct file_identity file;
	struct budget budget;
	unsigned int n = 0;

	budget_begin(&budget, &limits);
	for (uint32_t uid = 100000; uid < 100100; uid++) {
		file = of_user(uid, 10);
		n += take_all(&budget, &file, true);
	}
	assert_int_equal(n, 8);
	assert_int_equal(take_all(&budget, &of_root, false), 8);
	assert_int_equal(take_all(&budget, &of_root, true), 0);
}

static void test_rare_files_leave_half(void **state)
{
	struct budget budget;

	budget_begin(&budget, &limits);
	assert_int_equal(take_all(&budget, &of_root, false), 8);
	assert_int_equal(take_all(&budget, &of_root, true), 8);
}

/* However large, it has its turn; but few of them in a window. */
static void test_large_files_are_few(void **state)
{
	struct file_identity huge = of_user(1000, UINT64_MAX), large = of_user(1001, 201);
	struct budget budget;

	budget_begin(&budget, &limits);
	assert_int_equal(take_all(&budget, &huge, false), 1);
	assert_int_equal(take_all(&budget, &huge, true), 1);
	assert_int_equal(take_all(&budget, &large, true), 2);
	budget_begin(&budget, &limits);
	large = of_user(1002, 199);
	assert_int_equal(take_all(&budget, &large, true), 2);
}

static void test_time_counts_for_the_owner(void **state)
{
	const struct budget_limits short_time = { .files = 16, .bytes = 1600, .us = 400000 };
	struct file_identity one = of_user(1000, 10), other = of_user(1001, 10);
	struct budget budget;

	budget_begin(&budget, &short_time);
	assert_true(budget_take(&budget, &one, true));
	usleep(110000);
	budget_rest(&budget);
	assert_false(budget_take(&budget, &one, true));
	assert_true(budget_take(&budget, &other, true));
	budget_rest(&budget);
	usleep(600000); /* at rest */
	assert_true(budget_has_time(&budget));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_user_gets_a_quarter),
		cmocka_unit_test(test_all_users_get_half),
		cmocka_unit_test(test_rare_files_leave_half),
		cmocka_unit_test(test_large_files_are_few),
		cmocka_unit_test(test_time_counts_for_the_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
