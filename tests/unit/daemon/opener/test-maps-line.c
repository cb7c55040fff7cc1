/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "daemon/opener/maps-line.h"

static void test_a_line_of_a_file(void **state)
{
	char line[] = "55d0c4a2f000-55d0c4a34000 r-xp 00002000 fd:1f 1573     /usr/bin/a cat\n";
	struct maps_line m;

	assert_true(maps_line_parse(line, &m));
	assert_int_equal(m.start, 0x55d0c4a2f000);
	assert_int_equal(m.end, 0x55d0c4a34000);
	assert_true(m.executable);
	assert_int_equal(m.file_offset, 0x2000);
	assert_int_equal(m.major, 0xfd);
	assert_int_equal(m.minor, 0x1f);
	assert_int_equal(m.inode, 1573);
	assert_string_equal(m.path, "/usr/bin/a cat");
}

static void test_memory_without_a_file(void **state)
{
	char line[] = "7ffd0000-ffffffffff601000 rw-p 00000000 00:00 0 \n";
	struct maps_line m;

	assert_true(maps_line_parse(line, &m));
	assert_int_equal(m.end, 0xffffffffff601000);
	assert_false(m.executable);
	assert_int_equal(m.inode, 0);
	assert_string_equal(m.path, "");
}

static void test_what_is_no_line(void **state)
{
	static const char *const lines[] = {
		"", "\n", "-", "1", "1-2", "1-2 r-x", "1-2 r-xp 0 fd", "name"
	};
	struct maps_line m = { .inode = 7 };
	char line[64];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		strcpy(line, lines[i]);
		assert_false(maps_line_parse(line, &m));
		assert_int_equal(m.inode, 7);
	}
}

/* A file may be called like a line of another one. */
static void test_newlines_in_paths(void **state)
{
	char line[] = "1-2 r-xp 0 0:1 3 /a\\012b\\012\\0129\\01\n";
	struct maps_line m;

	assert_true(maps_line_parse(line, &m));
	assert_string_equal(m.path, "/a\nb\n\n9\\01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_of_a_file),
		cmocka_unit_test(test_memory_without_a_file),
		cmocka_unit_test(test_what_is_no_line),
		cmocka_unit_test(test_newlines_in_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
