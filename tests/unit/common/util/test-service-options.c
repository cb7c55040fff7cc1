/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/macro.h"
#include "common/util/service-options.h"

static const char *path;
static bool flag;

/* @words: at most three, the last NULL. */
static int read_words(const char *const *words)
{
	static const struct service_option table[] = {
		{ "path", &path, NULL },
		{ "flag", NULL, &flag },
	};
	static const struct service_options options = { "program", "1", "usage\n", table,
							ARRAY_SIZE(table) };
	char *argv[5] = { (char *)"program" };
	int argc = 1;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	path = NULL;
	flag = false;
	optind = 0; /* getopt begins anew */
	return service_options_read(&options, argc, argv);
}

static void test_arguments_and_flags_go_where_they_belong(void **state)
{
	assert_int_equal(read_words((const char *[]){ "--flag", "--path", "a", NULL }), 1);
	assert_string_equal(path, "a");
	assert_true(flag);
	assert_int_equal(read_words((const char *[]){ "--path=b", NULL }), 1);
	assert_string_equal(path, "b");
	assert_false(flag);
	assert_int_equal(read_words((const char *[]){ NULL }), 1);
	assert_null(path);
}

static void test_wrong_usage_is_refused(void **state)
{
	assert_int_equal(read_words((const char *[]){ "--path", NULL }), -1);
	assert_int_equal(read_words((const char *[]){ "--flag=1", NULL }), -1);
	assert_int_equal(read_words((const char *[]){ "--zork", NULL }), -1);
	assert_int_equal(read_words((const char *[]){ "--flag", "word", NULL }), -1);
}

static void test_help_and_version_are_all_that_is_done(void **state)
{
	assert_int_equal(read_words((const char *[]){ "--help", "--zork", NULL }), 0);
	assert_int_equal(read_words((const char *[]){ "--flag", "--version", NULL }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments_and_flags_go_where_they_belong),
		cmocka_unit_test(test_wrong_usage_is_refused),
		cmocka_unit_test(test_help_and_version_are_all_that_is_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
