/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include <linux/perf_event.h>

#include "daemon/sampler/branch-filter.h"

static void assert_filter(const char *text, uint64_t expected, const char *again)
{
	char formatted[BRANCH_FILTER_TEXT_MAX];
	uint64_t filter = 0;

	assert_int_equal(branch_filter_parse(text, &filter), 0);
	assert_int_equal(filter, expected);
	assert_string_equal(branch_filter_format(filter, formatted), again);
}

static void test_names(void **state)
{
	assert_filter("any", PERF_SAMPLE_BRANCH_ANY, "any");
	assert_filter("any_call,u", PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER,
		      "any_call,u");
	assert_filter("k,cond,ind_jmp",
		      PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_COND |
			      PERF_SAMPLE_BRANCH_IND_JUMP,
		      "ind_jmp,cond,k");
	assert_filter("any,any_call,any_ret,ind_call,ind_jmp,cond,call,u,k",
		      PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ANY_CALL |
			      PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_IND_CALL |
			      PERF_SAMPLE_BRANCH_IND_JUMP | PERF_SAMPLE_BRANCH_COND |
			      PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_USER |
			      PERF_SAMPLE_BRANCH_KERNEL,
		      "any,any_call,any_ret,ind_call,ind_jmp,cond,call,u,k");
}

static void test_levels_alone_mean_any_branch(void **state)
{
	assert_filter("u", PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, "any,u");
}

static void assert_none(const char *text)
{
	uint64_t filter = 7;

	assert_int_equal(branch_filter_parse(text, &filter), -EINVAL);
	assert_int_equal(filter, 7);
}

static void test_no_names(void **state)
{
	assert_none("");
	assert_none("all");
	assert_none("any,");
	assert_none(",any");
	assert_none("any, u");
	assert_none("ANY");
	assert_none("anyx");
	assert_none("an");
	assert_none("stack"); /* a mode, not a filter */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_levels_alone_mean_any_branch),
		cmocka_unit_test(test_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
