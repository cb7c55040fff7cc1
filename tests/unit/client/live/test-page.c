/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page of the live view without a terminal: what it shows, and how it fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/live/page.h"
#include "client/live/state.h"
#include "client/top/top-order.h"

#include <stdio.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define N_FUNCTIONS 40

/* A page of the functions function_00 with 1 sample to function_39 with 40, each called by main. */
struct demo {
	struct top_settings settings;
	struct live_state state;
	struct profile_source *source;
	struct top *top;
	struct live_page page;
	char *text;
};

static uint32_t added(int64_t r)
{
	assert_true(r >= 0);
	return (uint32_t)r;
}

static struct profile *make_profile(void)
{
	struct profile *p;
	uint32_t process, object, root;
	char name[64];
	int r = 0;

	assert_int_equal(profile_new(&p), 0);
	process = added(profile_add_process(
		p, &(struct profile_process){ .pid = 1, .comm = "demo", .uid = 0 }));
	object = added(
		profile_add_object(p, &(struct profile_object){ .path = "/usr/bin/d\u00e9mo" }));
	added(profile_add_function(
		p, &(struct profile_function){
			   .object = object, .start = 16, .size = 16, .name = "main" }));
	root = added(profile_add_stack(p, &(struct profile_stack){ .parent = PROFILE_NONE,
								   .process = process,
								   .frame = { object, 20 } }));
	for (uint64_t i = 0; i < N_FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "function_%02d(std::vector<std::pair<int, long>>)",
			 (int)i);
		added(profile_add_function(p, &(struct profile_function){ .object = object,
									  .start = 256 * (i + 1),
									  .size = 256,
									  .name = name }));
		added(profile_add_stack(
			p, &(struct profile_stack){ .parent = root,
						    .process = process,
						    .frame = { object, 256 * (i + 1) + 5 },
						    .samples = i + 1,
						    .weight = 1 }));
		p->counters.samples += i + 1;
	}
	p->info.mode = profile_string(p, "software", &r);
	p->info.event = profile_string(p, "cpu-clock", &r);
	assert_int_equal(profile_finalize(p) | r, 0);
	return p;
}

static int setup(void **ret)
{
	const struct symbolizer_settings symbols = {};
	const struct profile_filter filter = PROFILE_FILTER_INIT;
	struct demo *demo = calloc(1, sizeof(*demo));
	struct windows windows = {};
	struct window_info window = { 7, 1000000, 10000000, 800, 3, false, "software" };

	assert_non_null(demo);
	setenv("TZ", "UTC0", 1);
	assert_int_equal(profile_source_new(&demo->source, &symbols), 0);
	assert_int_equal(windows_add(&windows, &window), 0);
	window = (struct window_info){ 0, 11000000, 5000000, 20, 2, true, "software" };
	assert_int_equal(windows_add(&windows, &window), 0);
	assert_int_equal(profile_source_replace(demo->source, make_profile(), &windows, &filter),
			 0);
	demo->page = (struct live_page){
		.state = &demo->state,
		.source = demo->source,
		.error = "",
		.now_us = 16000000,
		.n_rows = 24,
		.n_columns = 80,
	};
	*ret = demo;
	return 0;
}

static int teardown(void **state)
{
	struct demo *demo = *state;

	top_free(demo->top);
	profile_source_free(demo->source);
	free(demo->text);
	free(demo);
	return 0;
}

static void make_top(struct demo *demo)
{
	demo->top = top_free(demo->top);
	demo->settings.by = demo->state.screens[0].by;
	assert_int_equal(top_new(&demo->top, demo->source, &demo->settings), 0);
	top_sort(demo->top, demo->state.orders[demo->settings.by]);
	demo->page.top = demo->top;
}

/* The page without escape sequences; its number of lines must fit. */
static const char *draw(struct demo *demo)
{
	char *from, *to;
	size_t n_lines = 1;

	free(demo->text);
	demo->text = live_page_format(&demo->page);
	assert_non_null(demo->text);
	for (from = to = demo->text; *from;) {
		if (*from == '\033') {
			from = strchr(from, 'm') + 1;
			continue;
		}
		n_lines += *from == '\n';
		*to++ = *from++;
	}
	*to = '\0';
	assert_true(n_lines <= demo->page.n_rows || demo->page.n_rows < 6);
	return demo->text;
}

static size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static void test_the_page_describes_its_data(void **state)
{
	struct demo *demo = *state;
	const char *text;

	make_top(demo);
	text = draw(demo);
	assert_non_null(strstr(text, "software of cpu-clock"));
	assert_non_null(strstr(text, "15 s to 00:00:16: 1 window + the open one"));
	assert_non_null(strstr(text, "820 samples, 5 missing"));
	assert_non_null(strstr(text, "[function]"));
	assert_non_null(strstr(text, "by self"));
	assert_non_null(strstr(text, "1-19 of 41"));
	assert_int_equal(count(text, "function_"), 19);
	demo->page.n_columns = 60;
	assert_non_null(strstr(draw(demo), "function_39(...)")); /* shortened */
	strcpy(demo->state.span, "-2h");
	assert_non_null(strstr(draw(demo), "cpu-clock, -2h: 15 s to 00:00:16: 1 window"));
	demo->page.n_columns = 40;
	assert_non_null(strstr(draw(demo), "cpu-clock, -2h\n"));
	demo->state.paused = true;
	assert_non_null(strstr(draw(demo), "paused"));
}

static void test_what_is_missing_is_in_the_head(void **state)
{
	struct demo *demo = *state;
	struct windows *windows = &demo->source->windows;

	make_top(demo);
	demo->source->profile->counters.samples_estimated = 205;
	assert_non_null(strstr(draw(demo), "820 samples, 5 missing, 25 % estimated\n"));
	demo->source->profile->counters.samples_estimated = 4; /* of 820 */
	assert_non_null(strstr(draw(demo), "820 samples, 5 missing\n"));
	windows->rows[1].start_us += 18000000;
	assert_non_null(strstr(draw(demo), "820 samples, 5 missing, 18 s not sampled\n"));
}

static void test_the_head_names_the_views_there_is_room_for(void **state)
{
	struct demo *demo = *state;

	make_top(demo);
	assert_non_null(strstr(draw(demo), "[function] stack  stream  branch  block  process  "
					   "object  line  unit  by self\n"));
	demo->state.screens[0].by = VIEW_USER;
	make_top(demo);
	assert_non_null(strstr(draw(demo), " object  line [user] by self\n"));
	demo->page.n_columns = 130;
	assert_non_null(strstr(draw(demo), " function  stack  stream  branch  branch-site  block  "
					   "process  comm  object  line  unit  container [user] by "
					   "self\n"));
}

static void test_the_page_scrolls(void **state)
{
	struct demo *demo = *state;
	const char *text;

	make_top(demo);
	demo->state.screens[0].cursor.scroll = 22;
	text = draw(demo);
	assert_null(strstr(text, "function_18"));
	assert_non_null(strstr(text, "function_17"));
	assert_non_null(strstr(text, "function_00"));
	assert_non_null(strstr(text, "main"));
	assert_non_null(strstr(text, "23-41 of 41"));
	assert_int_equal(live_page_n_lines(&demo->page), 41);
	assert_int_equal(live_page_room(&demo->page), 19);
}

static void test_stacks_scroll_line_by_line(void **state)
{
	struct demo *demo = *state;

	demo->state.screens[0].by = VIEW_STACK;
	make_top(demo);
	assert_int_equal(live_page_n_lines(&demo->page), 4 * N_FUNCTIONS);
	demo->state.screens[0].cursor.scroll =
		2; /* past the blank line and the numbers of the first */
	assert_non_null(strstr(draw(demo), "by samples\n    2800 function_39"));
	demo->state.screens[0].cursor.scroll = 4 * N_FUNCTIONS - 20;
	assert_non_null(strstr(draw(demo), "0.12%  1 sample\n    100 function_00"));
	assert_non_null(strstr(demo->text, "141-160 of 160"));
}

static void test_the_page_has_any_size(void **state)
{
	struct demo *demo = *state;

	demo->page.colors = true;
	for (int by = 0; by < N_VIEWS; by++) {
		demo->state.screens[0].by = (enum view_by)by;
		make_top(demo);
		for (size_t rows = 1; rows <= 60; rows += 7)
			for (size_t columns = 1; columns <= 250; columns += 31) {
				demo->page.n_rows = rows;
				demo->page.n_columns = columns;
				draw(demo);
			}
	}
}

static void press(struct live_state *state, int key)
{
	assert_int_equal(live_state_press(state, key, 10, 40), LIVE_VIEW);
}

static void test_rows_are_ordered_and_searched(void **state)
{
	struct demo *demo = *state;

	press(&demo->state, '>');
	make_top(demo);
	assert_string_equal(demo->top->shares->rows[0].key.symbol, "main");
	top_search(demo->top, "FUNCTION_1");
	assert_int_equal(demo->top->n_rows, 10);
	assert_null(strstr(draw(demo), "main"));

	press(&demo->state, 's');
	make_top(demo);
	top_search(demo->top, "main"); /* called by it */
	assert_int_equal(demo->top->n_rows, N_FUNCTIONS);
	top_search(demo->top, "function_07");
	assert_int_equal(demo->top->n_rows, 1);

	press(&demo->state, 'p');
	make_top(demo);
	top_search(demo->top, "DEMO");
	assert_int_equal(demo->top->n_rows, 1);
	top_search(demo->top, "other");
	assert_int_equal(demo->top->n_rows, 0);
	draw(demo);
}

static void test_branches_and_blocks_are_ordered(void **state)
{
	struct profile_branch branches[] = {
		{ .from = { 0, 1 }, .taken = 5, .mispredicted = 1, .predicted = 4, .cycles = 7 },
		{ .from = { 0, 2 }, .taken = 3, .mispredicted = 2, .predicted = 9, .cycles = 9 },
		{ .from = { 0, 3 }, .taken = 5, .mispredicted = 2, .predicted = 0, .cycles = 8 },
	};
	struct profile_block blocks[] = {
		{ .start = 1, .runs = 9, .cycles = 90, .cycles_rows = 9 },
		{ .start = 2, .runs = 2, .cycles = 40, .cycles_rows = 2 },
		{ .start = 3, .runs = 10 },
	};
	struct profile all = {};
	struct profile_source source = { .all = &all };
	struct top top = {
		.by = VIEW_BRANCH, .source = &source, .branches = branches, .n_rows = 3
	};

	top_sort(&top, 1);
	assert_int_equal(branches[0].from.offset, 3);
	top_sort(&top, 2);
	assert_int_equal(branches[0].from.offset, 2);
	top_sort(&top, TOP_ORDER_MISPREDICTED);
	assert_int_equal(branches[0].from.offset, 3);
	assert_int_equal(branches[1].from.offset, 2);
	top_sort(&top, 0);
	assert_int_equal(branches[0].from.offset, 1);
	top = (struct top){ .by = VIEW_BLOCK, .blocks = blocks, .n_rows = 3 };
	top_sort(&top, 1);
	assert_int_equal(blocks[0].start, 3);
	top_sort(&top, 2);
	assert_int_equal(blocks[0].start, 2);
	top_sort(&top, 0);
	assert_int_equal(blocks[0].start, 1);
}

static void test_a_page_without_data(void **state)
{
	struct demo *demo = *state;
	const struct symbolizer_settings symbols = {};
	struct profile_source *empty;

	assert_int_equal(profile_source_new(&empty, &symbols), 0);
	demo->page.source = empty;
	demo->page.error = "the daemon has gone";
	assert_non_null(strstr(draw(demo), "no data yet"));
	assert_non_null(strstr(demo->text, "the daemon has gone"));
	profile_source_free(empty);
}

/* Of lines that are no longer than the screen is wide; and no screen is too low to scroll to the
 * end. */
static void test_help_fits(void **state)
{
	static const size_t widths[] = { 40, 80, 200 };
	struct demo *demo = *state;

	demo->state.help = true;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		const char *line;

		demo->page.n_columns = widths[i];
		demo->page.n_rows = 100;
		demo->state.help_cursor.scroll = 0;
		for (line = draw(demo); line; line = strchr(line, '\n')) {
			line += *line == '\n';
			assert_true(strcspn(line, "\n") <= widths[i]);
		}
		assert_non_null(strstr(demo->text, "Control-U"));
		demo->page.n_rows = 5;
		demo->state.help_cursor.scroll =
			live_page_n_lines(&demo->page) - live_page_room(&demo->page);
		assert_non_null(strstr(draw(demo), "height"));
		assert_non_null(strstr(demo->text, "Any other key leaves"));
	}
}

static void test_the_cursor_is_marked(void **state)
{
	struct demo *demo = *state;
	_cleanup_free_ char *text = NULL;

	make_top(demo);
	demo->state.screens[0].cursor = (struct live_cursor){ .line = 3, .scroll = 2 };
	text = live_page_format(&demo->page);
	assert_non_null(strstr(text, "\033[7m"));
	assert_memory_equal(strstr(strstr(strstr(text, "FUNCTION"), "\033[7m"), "function_"),
			    "function_36", 11);
	assert_int_equal(count(strstr(text, "FUNCTION"), "\033[7m"), 1);
}

static void test_the_foot_says_what_a_key_did(void **state)
{
	struct demo *demo = *state;

	make_top(demo);
	live_state_say(&demo->state, "x does nothing");
	demo->page.error = "the daemon has gone";
	assert_non_null(strstr(draw(demo), "x does nothing"));
	assert_null(strstr(demo->text, "gone"));
	demo->state.note[0] = '\0';
	assert_non_null(strstr(draw(demo), "gone"));
}

/* Five lines, and which rows these are is one of them. */
static void test_a_low_screen(void **state)
{
	struct demo *demo = *state;

	make_top(demo);
	demo->page.n_rows = 5;
	demo->page.n_columns = 40;
	assert_non_null(strstr(draw(demo), "[function]"));
	assert_int_equal(count(demo->text, "function_"), 2);
	assert_int_equal(count(demo->text, "\n"), 4);
	assert_non_null(strstr(demo->text, "q quit"));
	live_state_open(
		&demo->state, LIVE_CALLS,
		&(struct live_subject){ .symbol = "work", .object = "/bin/demo", .start = 16 });
	demo->page.body = "a\nb\nc\nd\n";
	assert_non_null(strstr(draw(demo), "[calls] work (demo)\na\n"));
	assert_int_equal(count(demo->text, "\n"), 4);
}

static void test_names_cannot_move_the_cursor(void **state)
{
	struct demo *demo = *state;

	make_top(demo);
	strcpy(demo->state.screens[0].filter, "a\r\nb");
	demo->page.error = "x\x1b[2Jy";
	assert_non_null(strstr(draw(demo), "a\\x0d\\x0ab"));
	assert_non_null(strstr(demo->text, "x\\x1b[2Jy"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_page_describes_its_data, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_missing_is_in_the_head, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_head_names_the_views_there_is_room_for,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_page_scrolls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stacks_scroll_line_by_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_page_has_any_size, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows_are_ordered_and_searched, setup,
						teardown),
		cmocka_unit_test(test_branches_and_blocks_are_ordered),
		cmocka_unit_test_setup_teardown(test_a_page_without_data, setup, teardown),
		cmocka_unit_test_setup_teardown(test_help_fits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_cursor_is_marked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_foot_says_what_a_key_did, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_low_screen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_cannot_move_the_cursor, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
