/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "client/term/wrap.h"

static void expect(const char *text, size_t width, const char *expected)
{
	char *got = NULL;
	size_t n;
	FILE *f = open_memstream(&got, &n);

	assert_non_null(f);
	wrap_write(f, text, width, 2);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(got, expected);
	free(got);
}

static void test_short_lines(void **state)
{
	expect("", 8, "");
	expect("one two\n", 7, "one two\n");
	expect("one\n\n  two\nthree", 8, "one\n\n  two\nthree");
	(void)state;
}

static void test_long_lines(void **state)
{
	expect("one two three\nfour\n", 9, "one two\n  three\nfour\n");
	expect("one two three four\n", 8, "one two\n  three\n  four\n");
	expect("a b  c\n", 3, "a b\n  c\n");
	(void)state;
}

/* Nothing is broken; the terminal does that. */
static void test_long_word(void **state)
{
	expect("/a/long/path: 1 of 2\n", 6, "/a/long/path:\n  1 of\n  2\n");
	(void)state;
}

static void test_unlimited(void **state)
{
	expect("one two three four\n", 0, "one two three four\n");
	(void)state;
}

static void test_utf8(void **state)
{
	expect("äöü ß\nä ö\n", 5, "äöü ß\nä ö\n");
	(void)state;
}

static void test_colors(void **state)
{
	expect("\033[1mone\033[0m two\n", 7, "\033[1mone\033[0m two\n");
	expect("\033[1mone\033[0m two\n", 6, "\033[1mone\033[0m\n  two\n");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_lines), cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_long_word),   cmocka_unit_test(test_unlimited),
		cmocka_unit_test(test_utf8),        cmocka_unit_test(test_colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
