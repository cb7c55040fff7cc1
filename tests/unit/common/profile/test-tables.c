/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of tables: every set, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/profile/tables.h"

static void test_every_set_is_read_as_it_was_written(void **state)
{
	for (unsigned int tables = 1; tables <= PROFILE_ALL_TABLES; tables++) {
		char text[PROFILE_TABLES_TEXT_MAX];
		unsigned int back = 0;

		profile_tables_format(text, tables);
		assert_true(profile_tables_parse(&back, text));
		assert_int_equal(back, tables);
	}
}

static void test_other_words_are_refused(void **state)
{
	static const char *const lists[] = { "",
					     ",",
					     "stacks,",
					     ",stacks",
					     "stack",
					     "stacksx",
					     "stacks, blocks",
					     "Stacks",
					     "stacks,,blocks" };
	unsigned int tables = 7;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		assert_false(profile_tables_parse(&tables, lists[i]));
	assert_int_equal(tables, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_set_is_read_as_it_was_written),
		cmocka_unit_test(test_other_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
