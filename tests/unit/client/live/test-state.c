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
	enum live_step step = LIVE_DRAW;

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
		[VIEW_USER] = 'U',
	};
	struct live_state state = {};
	struct live_screen *screen = live_screen_of(&state);

	for (int by = N_VIEWS; by-- > 0;) {
		const char key[] = { letters[by], '\0' };

		if (by == VIEW_HOST) /* of a cluster alone */
			continue;
		screen->cursor.line = 5;
		assert_int_equal(press(&state, key), LIVE_VIEW);
		assert_int_equal(screen->by, by);
		assert_int_equal(screen->cursor.line, 0);
		screen->cursor.line = 5;
		press(&state, key);
		assert_int_equal(screen->cursor.line, 5);
	}
	assert_int_equal(press(&state, "q"), LIVE_END);
}

static const char *order_of(const struct live_state *state)
{
	enum view_by by = state->screens[state->depth].by;

	return top_order_name(by, state->orders[by]);
}

static void test_keys_that_do_nothing_say_so(void **unused)
{
	struct live_state state = {};

	press(&state, "x");
	assert_non_null(strstr(state.note, "x does nothing"));
	press(&state, "f");
	assert_string_equal(state.note, "");
	press(&state, "\t");
	assert_non_null(strstr(state.note, "does nothing"));
	press(&state, "u>");
	assert_non_null(strstr(state.note, "one order only"));
	live_state_press(&state, SCREEN_ESCAPE, 10, 40);
	assert_non_null(strstr(state.note, "nothing to go back to"));
	live_state_open(&state, LIVE_HISTORY, &(struct live_subject){});
	for (const char *key = "fstbikpolucC<>/\n"; *key; key++) {
		assert_int_equal(
			live_state_press(&state, *key == '\n' ? SCREEN_ENTER : *key, 10, 40),
			LIVE_DRAW);
		assert_non_null(strstr(state.note, "does nothing here"));
	}
	assert_int_equal(live_screen_of(&state)->by, VIEW_UNIT);
}

static void test_screens_are_a_stack(void **unused)
{
	const struct live_subject subject = { .symbol = "work",
					      .object = "/usr/bin/demo",
					      .start = 16 };
	struct live_state state = {};

	press(&state, "p");
	live_screen_of(&state)->cursor.line = 3;
	assert_int_equal(press(&state, "\n"), LIVE_OPEN);
	assert_int_equal(state.opens, LIVE_CALLS);
	live_state_narrow(&state, "pid=7");
	assert_int_equal(live_screen_of(&state)->by, VIEW_FUNCTION);
	assert_string_equal(live_screen_of(&state)->filter, "pid=7");
	assert_int_equal(press(&state, "a"), LIVE_OPEN);
	assert_int_equal(state.opens, LIVE_CODE);
	live_state_open(&state, state.opens, &subject);
	assert_int_equal(live_screen_of(&state)->kind, LIVE_CODE);
	assert_int_equal(press(&state, "\t"), LIVE_CHANGE);
	assert_int_equal(live_screen_of(&state)->kind, LIVE_HISTORY);
	assert_int_equal(press(&state, "\t"), LIVE_CHANGE);
	assert_int_equal(live_screen_of(&state)->kind, LIVE_CALLS);
	live_state_press(&state, SCREEN_LEFT, 10, 40);
	assert_int_equal(live_screen_of(&state)->kind, LIVE_HISTORY);
	assert_string_equal(live_screen_of(&state)->subject.symbol, "work");
	assert_int_equal(live_state_press(&state, SCREEN_ESCAPE, 10, 40), LIVE_CHANGE);
	assert_int_equal(live_screen_of(&state)->kind, LIVE_ROWS);
	assert_int_equal(live_state_press(&state, SCREEN_ESCAPE, 10, 40), LIVE_CHANGE);
	assert_int_equal(live_screen_of(&state)->by, VIEW_PROCESS);
	assert_string_equal(live_screen_of(&state)->filter, "");
	assert_int_equal(live_screen_of(&state)->cursor.line, 3);
}

/* A hundred times deeper and deeper: the way back ends where it began. */
static void test_the_stack_is_limited(void **unused)
{
	struct live_subject subject = { .object = "/usr/bin/demo" };
	struct live_state state = {};

	live_screen_of(&state)->cursor.line = 3;
	for (int i = 0; i < 100; i++) {
		subject.start = (uint64_t)i;
		live_state_open(&state, LIVE_CALLS, &subject);
		assert_int_equal(live_screen_of(&state)->subject.start, i);
	}
	live_state_press(&state, SCREEN_ESCAPE, 10, 40);
	assert_int_equal(live_screen_of(&state)->subject.start, 98);
	for (int i = 0; i < 100; i++)
		live_state_press(&state, SCREEN_ESCAPE, 10, 40);
	assert_int_equal(live_screen_of(&state)->kind, LIVE_ROWS);
	assert_int_equal(live_screen_of(&state)->cursor.line, 3);
}

static void test_spans_are_chosen_and_typed(void **unused)
{
	struct live_state state = {};

	assert_int_equal(press(&state, "-"), LIVE_DRAW);
	assert_non_null(strstr(state.note, "no shorter span"));
	assert_int_equal(press(&state, "+"), LIVE_CHANGE);
	assert_string_equal(state.span, "-15min");
	press(&state, "+++");
	assert_string_equal(state.span, "-1d");
	press(&state, "+");
	assert_non_null(strstr(state.note, "no longer span"));
	press(&state, "-");
	assert_string_equal(state.span, "-6h");
	press(&state, "T\x15yesterday");
	assert_int_equal(state.prompt, LIVE_PROMPT_SPAN);
	assert_string_equal(state.span, "-6h");
	assert_int_equal(press(&state, "\n"), LIVE_CHANGE);
	assert_string_equal(state.span, "yesterday");
	press(&state, "-");
	assert_string_equal(state.span, "");
	press(&state, "T");
	for (int i = 0; i < 2 * LIVE_SPAN_MAX; i++)
		press(&state, "1");
	assert_int_equal(press(&state, "\n"), LIVE_DRAW);
	assert_non_null(strstr(state.note, "too long"));
	assert_string_equal(state.span, "");
}

static void test_a_filter_that_would_be_too_long(void **unused)
{
	struct live_state state = {};

	memset(live_screen_of(&state)->filter, 'x', LIVE_FILTER_MAX - 5);
	live_state_narrow(&state, "pid=4711");
	assert_int_equal(state.depth, 0);
	assert_non_null(strstr(state.note, "too long"));
}

static void test_orders_go_round_and_are_kept(void **unused)
{
	struct live_state state = {};

	assert_int_equal(press(&state, ">"), LIVE_VIEW);
	assert_string_equal(order_of(&state), "total");
	press(&state, "b<");
	assert_string_equal(order_of(&state), "target");
	press(&state, "<<");
	assert_string_equal(order_of(&state), "mispredicted share");
	press(&state, ">>");
	press(&state, ">");
	assert_string_equal(order_of(&state), "count");
	press(&state, "u>>>");
	assert_int_equal(state.orders[VIEW_UNIT], 0);
	press(&state, "f");
	assert_string_equal(order_of(&state), "total");
}

static void test_a_filter_is_typed(void **unused)
{
	struct live_state state = {};

	live_screen_of(&state)->cursor.line = 3;
	assert_int_equal(press(&state, "/comm=q"), LIVE_DRAW);
	assert_int_equal(state.prompt, LIVE_PROMPT_FILTER);
	assert_string_equal(state.input, "comm=q");
	assert_string_equal(live_screen_of(&state)->filter, "");
	assert_int_equal(press(&state, "\n"), LIVE_FILTER);
	assert_int_equal(state.prompt, LIVE_PROMPT_NONE);
	assert_string_equal(live_screen_of(&state)->filter, "comm=q");
	assert_int_equal(live_screen_of(&state)->cursor.line, 0);

	press(&state, "/xyz");
	live_state_press(&state, SCREEN_BACKSPACE, 10, 40);
	assert_string_equal(state.input, "comm=qxy");
	live_state_press(&state, SCREEN_ESCAPE, 10, 40);
	assert_int_equal(state.prompt, LIVE_PROMPT_NONE);
	assert_string_equal(live_screen_of(&state)->filter, "comm=q");

	press(&state, "/\x15\n");
	assert_string_equal(live_screen_of(&state)->filter, "");
}

static void test_any_character_can_be_typed(void **unused)
{
	struct live_state state = { .prompt = LIVE_PROMPT_FILTER };

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
	assert_int_equal(live_screen_of(&state)->by, VIEW_FUNCTION);
	press(&state, "h");
	live_state_press(&state, SCREEN_END, 10, 40);
	assert_true(state.help);
	assert_int_equal(state.help_cursor.scroll, 30);
	live_state_press(&state, SCREEN_UP, 10, 40);
	assert_int_equal(state.help_cursor.scroll, 29);
	assert_int_equal(press(&state, "x"), LIVE_DRAW);
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

	assert_int_equal(live_filter_parse(&filter, " two words operator=x comm=z ", &fault), 0);
	assert_string_equal(filter.words, "two words operator=x");
	assert_string_equal(filter.profile.comm, "z");
	assert_null(filter.profile.pid);

	assert_int_equal(live_filter_parse(&filter, "", &fault), 0);
	assert_string_equal(filter.words, "");
}

static void test_filters_that_are_wrong(void **unused)
{
	static const char *const texts[] = { "pid=x",
					     "pid=",
					     "uid=-1",
					     "comm=a pid=1x",
					     "foo=1",
					     "comm=a com=b",
					     "\"unclosed comm=x",
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
		cmocka_unit_test(test_keys_that_do_nothing_say_so),
		cmocka_unit_test(test_screens_are_a_stack),
		cmocka_unit_test(test_the_stack_is_limited),
		cmocka_unit_test(test_spans_are_chosen_and_typed),
		cmocka_unit_test(test_a_filter_that_would_be_too_long),
		cmocka_unit_test(test_a_filter_is_typed),
		cmocka_unit_test(test_any_character_can_be_typed),
		cmocka_unit_test(test_pause_and_help),
		cmocka_unit_test(test_filters_are_read),
		cmocka_unit_test(test_filters_that_are_wrong),
		cmocka_unit_test(test_options_become_a_filter_to_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
