/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cursor of the live view: it stays within the lines, and on the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/live/cursor.h"
#include "client/term/screen.h"

struct wanted {
	int key;
	size_t line, scroll;
};

static void check(struct live_cursor *cursor, const struct wanted *wanted, size_t n, size_t n_lines)
{
	for (size_t i = 0; i < n; i++) {
		cursor->identity = 7;
		assert_true(live_cursor_press(cursor, wanted[i].key, 10, n_lines));
		assert_int_equal(cursor->line, wanted[i].line);
		assert_int_equal(cursor->scroll, wanted[i].scroll);
		assert_int_equal(cursor->identity, 0);
	}
}

static void test_moving_stays_within(void **unused)
{
	static const struct wanted wanted[] = {
		{ SCREEN_UP, 0, 0 },
		{ SCREEN_DOWN, 1, 0 },
		{ 'N' & 0x1f, 2, 0 },
		{ SCREEN_PAGE_DOWN, 12, 10 },
		{ SCREEN_UP, 11, 10 },
		{ 'P' & 0x1f, 10, 10 },
		{ SCREEN_UP, 9, 9 },
		{ 'F' & 0x1f, 19, 15 },
		{ SCREEN_PAGE_DOWN, 24, 15 },
		{ SCREEN_DOWN, 24, 15 },
		{ SCREEN_PAGE_UP, 14, 5 },
		{ 'B' & 0x1f, 4, 0 },
		{ SCREEN_END, 24, 15 },
		{ SCREEN_HOME, 0, 0 },
		{ 'G', 24, 15 },
		{ 'g', 0, 0 },
	};
	struct live_cursor cursor = {};

	check(&cursor, wanted, sizeof(wanted) / sizeof(*wanted), 25);
}

static void test_few_lines_or_none(void **unused)
{
	static const struct wanted few[] = { { SCREEN_END, 2, 0 }, { SCREEN_PAGE_DOWN, 2, 0 } };
	static const struct wanted none[] = { { SCREEN_DOWN, 0, 0 }, { SCREEN_END, 0, 0 } };
	struct live_cursor cursor = {};

	check(&cursor, few, 2, 3);
	check(&cursor, none, 2, 0);
}

static void test_other_keys_move_nothing(void **unused)
{
	struct live_cursor cursor = { .line = 3, .scroll = 1, .identity = 7 };

	assert_false(live_cursor_press(&cursor, 'x', 10, 25));
	assert_int_equal(cursor.line, 3);
	assert_int_equal(cursor.identity, 7);
}

static void test_the_line_is_on_the_screen(void **unused)
{
	struct live_cursor cursor = { .line = 20 };

	live_cursor_clamp(&cursor, 10, 25); /* it has moved down */
	assert_int_equal(cursor.scroll, 11);
	cursor.line = 3;
	live_cursor_clamp(&cursor, 10, 25); /* and up */
	assert_int_equal(cursor.scroll, 3);
	live_cursor_clamp(&cursor, 2, 25);
	assert_int_equal(cursor.scroll, 3);
	live_cursor_clamp(&cursor, 10, 2);
	assert_int_equal(cursor.line, 1);
	assert_int_equal(cursor.scroll, 0);
}

static void test_a_text_says_where_it_begins_once(void **state)
{
	struct live_cursor cursor = {};

	live_cursor_place(&cursor, 30, 10);
	assert_int_equal(cursor.line, 30);
	assert_int_equal(cursor.scroll, 25);
	live_cursor_place(&cursor, 5, 10);
	assert_int_equal(cursor.line, 30);
	cursor = (struct live_cursor){};
	assert_true(live_cursor_press(&cursor, SCREEN_DOWN, 10, 50));
	live_cursor_place(&cursor, 30, 10);
	assert_int_equal(cursor.line, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moving_stays_within),
		cmocka_unit_test(test_few_lines_or_none),
		cmocka_unit_test(test_other_keys_move_nothing),
		cmocka_unit_test(test_the_line_is_on_the_screen),
		cmocka_unit_test(test_a_text_says_where_it_begins_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
