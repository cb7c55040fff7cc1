/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the live view without a terminal: what keys do, what filters mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/live/filter.h"
#include "client/live/state.h"
#include "client/term/screen.h"
#include "client/top/top-order.h"

#include <errno.h>
#include <string.h>

#include "common/util/macro.h"

static enum live_step press(struct live_state *state, const char *keys)
{
	enum live_step step = LIVE_NOTHING;

	for (; *keys; keys++)
		step = live_state_press(state, *keys == '\n' ? SCREEN_ENTER : *keys, 10, 40);
	return step;
}

static void test_letters_choose_views(void **unused)
{
	static const char letters[N_VIEWS] = {
		[VIEW_FUNCTION] = 'f',    [VIEW_STACK] = 's', [VIEW_STREAM] = 't',
		[VIEW_BRANCH] = 'b',      [VIEW_BLOCK] = 'k', [VIEW_PROCESS] = 'p',
		[VIEW_OBJECT] = 'o',      [VIEW_LINE] = 'l',  [VIEW_UNIT] = 'u',
		[VIEW_BRANCH_SITE] = 'i', [VIEW_COMM] = 'c',  [VIEW_CONTAINER] = 'C',
	};
	struct live_state state = { .scroll = 5 };

	for (int by = 0; by < N_VIEWS; by++) {
		const char key[] = { letters[by], '\0' };

		state.scroll = 5;
		assert_int_equal(press(&state, key), LIVE_VIEW);
		assert_int_equal(state.by, by);
		assert_int_equal(state.scroll, 0);
	}
	assert_int_equal(press(&state, "x"), LIVE_NOTHING);
	assert_int_equal(press(&state, "q"), LIVE_END);
}

static void test_orders_go_round_and_are_kept(void **unused)
{
	struct live_state state = {};

	assert_int_equal(press(&state, ">"), LIVE_VIEW);
	assert_string_equal(top_order_name(state.by, state.orders[state.by]), "total");
	press(&state, "b<");
	assert_string_equal(top_order_name(state.by, state.orders[state.by]), "target");
	press(&state, "<<");
	assert_string_equal(top_order_name(state.by, state.orders[state.by]), "mispredicted share");
	press(&state, ">>");
	press(&state, ">");
	assert_string_equal(top_order_name(state.by, state.orders[state.by]), "count");
	press(&state, "u>>>");
	assert_int_equal(state.orders[VIEW_UNIT], 0);
	press(&state, "f");
	assert_string_equal(top_order_name(state.by, state.orders[state.by]), "total");
}

static size_t scroll(struct live_state *state, int key, size_t n_page, size_t n_lines)
{
	assert_int_equal(live_state_press(state, key, n_page, n_lines), LIVE_DRAW);
	return state->scroll;
}

static void test_scrolling_stays_within(void **unused)
{
	struct live_state state = {};

	assert_int_equal(scroll(&state, SCREEN_UP, 10, 25), 0);
	assert_int_equal(scroll(&state, SCREEN_DOWN, 10, 25), 1);
	assert_int_equal(scroll(&state, SCREEN_PAGE_DOWN, 10, 25), 11);
	assert_int_equal(scroll(&state, SCREEN_PAGE_DOWN, 10, 25), 15);
	assert_int_equal(scroll(&state, SCREEN_DOWN, 10, 25), 15);
	assert_int_equal(scroll(&state, SCREEN_PAGE_UP, 10, 25), 5);
	assert_int_equal(scroll(&state, SCREEN_PAGE_UP, 10, 25), 0);
	assert_int_equal(scroll(&state, SCREEN_END, 10, 25), 15);
	assert_int_equal(scroll(&state, SCREEN_HOME, 10, 25), 0);
	assert_int_equal(scroll(&state, SCREEN_DOWN, 10, 9), 0);
	state.scroll = 15;
	live_state_clamp(&state, 10, 12);
	assert_int_equal(state.scroll, 2);
	live_state_clamp(&state, 10, 0);
	assert_int_equal(state.scroll, 0);
}

static void test_a_filter_is_typed(void **unused)
{
	struct live_state state = { .scroll = 3 };

	assert_int_equal(press(&state, "/comm=q"), LIVE_DRAW);
	assert_true(state.typing);
	assert_string_equal(state.input, "comm=q");
	assert_string_equal(state.filter, "");
	assert_int_equal(press(&state, "\n"), LIVE_FILTER);
	assert_false(state.typing);
	assert_string_equal(state.filter, "comm=q");
	assert_int_equal(state.scroll, 0);

	press(&state, "/xyz");
	live_state_press(&state, SCREEN_BACKSPACE, 10, 40);
	assert_string_equal(state.input, "comm=qxy");
	live_state_press(&state, SCREEN_ESCAPE, 10, 40);
	assert_false(state.typing);
	assert_string_equal(state.filter, "comm=q");

	press(&state, "/\x15\n");
	assert_string_equal(state.filter, "");
}

static void test_any_character_can_be_typed(void **unused)
{
	struct live_state state = { .typing = true };

	live_state_press(&state, 0xe9, 10, 40);
	live_state_press(&state, 0x20ac, 10, 40);
	live_state_press(&state, 0x1f642, 10, 40);
	assert_string_equal(state.input, "\u00e9\u20ac\U0001f642");
	live_state_press(&state, SCREEN_BACKSPACE, 10, 40);
	assert_string_equal(state.input, "\u00e9\u20ac");
	live_state_press(&state, SCREEN_BACKSPACE, 10, 40);
	live_state_press(&state, SCREEN_BACKSPACE, 10, 40);
	live_state_press(&state, SCREEN_BACKSPACE, 10, 40);
	assert_string_equal(state.input, "");
	live_state_press(&state, 0x1b, 10, 40);
	live_state_press(&state, SCREEN_DOWN, 10, 40);
	assert_string_equal(state.input, "");
	for (int i = 0; i < 1000; i++)
		live_state_press(&state, 0x20ac, 10, 40);
	assert_true(strlen(state.input) < LIVE_FILTER_MAX);
	assert_int_equal(live_state_press(&state, SCREEN_CLOSED, 10, 40), LIVE_END);
}

static void test_pause_and_help(void **unused)
{
	struct live_state state = {};

	assert_int_equal(press(&state, " "), LIVE_PAUSE);
	assert_true(state.paused);
	assert_int_equal(press(&state, " "), LIVE_PAUSE);
	assert_false(state.paused);
	press(&state, "h");
	assert_true(state.help);
	assert_int_equal(live_state_press(&state, SCREEN_NONE, 10, 40), LIVE_TAKE);
	assert_true(state.help);
	assert_int_equal(press(&state, "b"), LIVE_DRAW);
	assert_false(state.help);
	assert_int_equal(state.by, VIEW_FUNCTION);
	assert_int_equal(press(&state, "?q"), LIVE_END);
}

static void test_filters_are_read(void **unused)
{
	struct live_filter filter;
	struct fault fault;

	assert_int_equal(live_filter_parse(&filter,
					   "pid=12 uid=0  comm=\"a b\" unit=c object=d symbol=e=f",
					   &fault),
			 0);
	assert_string_equal(filter.profile.pid, "12");
	assert_string_equal(filter.profile.uid, "0");
	assert_string_equal(filter.profile.comm, "a b");
	assert_string_equal(filter.profile.unit, "c");
	assert_string_equal(filter.profile.object, "d");
	assert_string_equal(filter.profile.symbol, "e=f");
	assert_string_equal(filter.words, "");

	assert_int_equal(live_filter_parse(&filter, " two words x=y comm=z ", &fault), 0);
	assert_string_equal(filter.words, "two words x=y");
	assert_string_equal(filter.profile.comm, "z");
	assert_null(filter.profile.pid);

	assert_int_equal(live_filter_parse(&filter, "\"unclosed comm=x", &fault), 0);
	assert_string_equal(filter.words, "unclosed comm=x");
	assert_int_equal(live_filter_parse(&filter, "", &fault), 0);
	assert_string_equal(filter.words, "");
}

static void test_filters_that_are_wrong(void **unused)
{
	static const char *const texts[] = { "pid=x", "pid=", "uid=-1", "comm=a pid=1x",
					     "pid=99999999999999999999" };
	struct live_filter filter;
	struct fault fault;
	char long_text[LIVE_FILTER_MAX + 10];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(live_filter_parse(&filter, texts[i], &fault), -EINVAL);
		assert_null(filter.profile.pid);
		assert_null(filter.profile.comm);
	}
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(live_filter_parse(&filter, long_text, &fault), -EINVAL);
}

static void test_options_become_a_filter_to_type(void **unused)
{
	struct profile_filter options = PROFILE_FILTER_INIT;
	struct live_filter filter;
	char text[LIVE_FILTER_MAX];
	struct fault fault;

	live_filter_format(text, &options);
	assert_string_equal(text, "");
	options.pid = "12";
	options.uid = "0";
	options.comm = "a b";
	options.symbol = "ns::f";
	live_filter_format(text, &options);
	assert_string_equal(text, "pid=12 uid=0 comm=\"a b\" symbol=ns::f");
	assert_int_equal(live_filter_parse(&filter, text, &fault), 0);
	assert_string_equal(filter.profile.comm, "a b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_letters_choose_views),
		cmocka_unit_test(test_orders_go_round_and_are_kept),
		cmocka_unit_test(test_scrolling_stays_within),
		cmocka_unit_test(test_a_filter_is_typed),
		cmocka_unit_test(test_any_character_can_be_typed),
		cmocka_unit_test(test_pause_and_help),
		cmocka_unit_test(test_filters_are_read),
		cmocka_unit_test(test_filters_that_are_wrong),
		cmocka_unit_test(test_options_become_a_filter_to_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
