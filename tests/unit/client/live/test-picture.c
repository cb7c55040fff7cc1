/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the live view makes of results: the cursor follows its row, Enter goes from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/live/picture.h"
#include "client/term/screen.h"

#include <string.h>

#define MAIN 0x100
#define HOT  0x200
#define WARM 0x300
#define NONE 0x900 /* in no function */

static const struct symbolizer_settings symbols;
static const struct top_settings settings;

struct view {
	struct live_picture *picture;
	struct live_state state;
	bool served;
};

static uint32_t added(int64_t r)
{
	assert_true(r >= 0);
	return (uint32_t)r;
}

static void add_function(struct profile *p, uint64_t start, const char *name)
{
	added(profile_add_function(
		p, &(struct profile_function){
			   .object = 0, .start = start, .size = 256, .name = name }));
}

static void add_leaf(struct profile *p, uint32_t process, uint32_t parent, uint64_t offset,
		     uint64_t samples)
{
	added(profile_add_stack(p, &(struct profile_stack){ .parent = parent,
							    .process = process,
							    .frame = { 0, offset },
							    .samples = samples,
							    .weight = samples }));
	p->counters.samples += samples;
}

/* main() calls hot() and warm(), with such samples; 0: it is not there. */
static struct profile *make_profile(uint64_t hot, uint64_t warm)
{
	struct profile *p;
	uint32_t process, root;
	int r = 0;

	assert_int_equal(profile_new(&p), 0);
	process = added(profile_add_process(
		p, &(struct profile_process){
			   .pid = 4711, .comm = "two words", .unit = "a.service", .uid = 0 }));
	added(profile_add_object(p, &(struct profile_object){ .path = "/usr/bin/demo" }));
	add_function(p, MAIN, "main");
	add_function(p, HOT, "hot");
	add_function(p, WARM, "warm");
	root = added(profile_add_stack(p, &(struct profile_stack){ .parent = PROFILE_NONE,
								   .process = process,
								   .frame = { 0, MAIN + 4 } }));
	if (hot > 0)
		add_leaf(p, process, root, HOT + 1, hot);
	if (warm > 0)
		add_leaf(p, process, root, WARM + 1, warm);
	add_leaf(p, process, root, NONE, 1);
	p->info.mode = profile_string(p, "software", &r);
	assert_int_equal(profile_finalize(p) | r, 0);
	return p;
}

static void make(struct view *view)
{
	assert_int_equal(live_picture_make(view->picture, &view->state, &view->served), 0);
}

static void take(struct view *view, uint64_t hot, uint64_t warm)
{
	struct live_result result = { .r = 1, .profile = make_profile(hot, warm) };
	struct live_request request;

	live_request_init(&request, &view->state);
	assert_int_equal(live_picture_take(view->picture, &request, &result, view->state.paused),
			 0);
	make(view);
}

/* The counts that come before the profile, which is yet to come. */
static void take_first(struct view *view, uint64_t hot, uint64_t warm)
{
	const struct profile_filter filter = PROFILE_FILTER_INIT;
	struct live_result result = { .r = 1, .is_first = true };
	struct windows windows = {};
	struct live_request request;

	assert_int_equal(profile_source_new(&result.source, &symbols), 0);
	assert_int_equal(
		profile_source_replace(result.source, make_profile(hot, warm), &windows, &filter),
		0);
	live_request_init(&request, &view->state);
	assert_int_equal(live_picture_take(view->picture, &request, &result, false), 0);
	make(view);
}

static int setup(void **state)
{
	struct view *view = calloc(1, sizeof(*view));

	assert_non_null(view);
	assert_int_equal(live_picture_new(&view->picture, &symbols, &settings), 0);
	*state = view;
	return 0;
}

static int teardown(void **state)
{
	struct view *view = *state;

	live_picture_free(view->picture);
	free(view);
	return 0;
}

static struct live_cursor *cursor_of(struct view *view)
{
	return &live_screen_of(&view->state)->cursor;
}

static const char *name_at(struct view *view, size_t line)
{
	return live_picture_top(view->picture)->shares->rows[line].key.symbol;
}

static void put(struct view *view, size_t line)
{
	*cursor_of(view) = (struct live_cursor){ .line = line };
	live_picture_hold(view->picture, &view->state);
}

static void test_counts_serve_until_the_profile_comes(void **state)
{
	struct view *view = *state;

	make(view);
	assert_false(view->served);
	take_first(view, 70, 30);
	assert_true(view->served);
	assert_non_null(live_picture_top(view->picture));
	view->state.screens[0].by = VIEW_STACK; /* which the counts do not have */
	make(view);
	assert_false(view->served);
	take(view, 70, 30);
	assert_true(view->served);
	view->state.screens[0].by = VIEW_FUNCTION;
	make(view);
	assert_true(view->served);
}

static void test_the_cursor_follows_its_row(void **state)
{
	struct view *view = *state;

	make(view);
	assert_false(view->served);
	take(view, 9, 5);
	assert_true(view->served);
	put(view, 1);
	assert_string_equal(name_at(view, 1), "warm");
	take(view, 9, 12);
	assert_string_equal(name_at(view, 0), "warm");
	assert_int_equal(cursor_of(view)->line, 0);
	take(view, 15, 12);
	assert_int_equal(cursor_of(view)->line, 1);
	assert_string_equal(view->state.note, "");
	take(view, 15, 0);
	assert_int_equal(cursor_of(view)->line, 1);
	assert_non_null(strstr(view->state.note, "is gone"));
}

static void test_on_the_first_row_it_stays_there(void **state)
{
	struct view *view = *state;

	take(view, 9, 5);
	put(view, 0);
	take(view, 9, 12);
	assert_int_equal(cursor_of(view)->line, 0);
	assert_string_equal(name_at(view, 0), "warm");
}

static void test_it_follows_in_each_view(void **state)
{
	struct view *view = *state;

	for (int by = 0; by < N_VIEWS; by++) {
		live_screen_of(&view->state)->by = (enum view_by)by;
		put(view, 0);
		take(view, 9, 5);
		cursor_of(view)->line = live_picture_top(view->picture)->n_rows > 1;
		live_picture_hold(view->picture, &view->state);
		take(view, 900, 500);
		assert_int_equal(cursor_of(view)->line,
				 live_picture_top(view->picture)->n_rows > 1);
		assert_string_equal(view->state.note, "");
	}
}

static void test_frames_of_stacks_are_lines(void **state)
{
	struct view *view = *state;
	struct live_screen *screen;

	live_screen_of(&view->state)->by = VIEW_STACK;
	take(view, 9, 5);
	put(view, 3); /* a blank line, the numbers, the leaf, main */
	take(view, 9, 12);
	assert_int_equal(cursor_of(view)->line, 3 + 4);
	view->state.opens = LIVE_CALLS;
	live_picture_open(view->picture, &view->state);
	screen = live_screen_of(&view->state);
	assert_int_equal(screen->kind, LIVE_CALLS);
	assert_string_equal(screen->subject.symbol, "main");
}

static void test_enter_goes_to_callers_and_callees(void **state)
{
	struct view *view = *state;
	const char *text;

	take(view, 9, 5);
	put(view, 0);
	view->state.opens = LIVE_CALLS;
	live_picture_open(view->picture, &view->state);
	make(view);
	assert_true(view->served);
	text = live_picture_text(view->picture, &view->state, 80, false);
	assert_non_null(strstr(text, "Callers"));
	assert_non_null(strstr(text, " 60.00%       9 hot (demo)\n 60.00%       9 main (demo)\n"));
	assert_null(strstr(text, "warm"));

	live_picture_open(view->picture, &view->state); /* on hot() itself */
	assert_non_null(strstr(view->state.note, "the function itself"));
	put(view, 3);
	live_picture_open(view->picture, &view->state);
	assert_string_equal(live_screen_of(&view->state)->subject.symbol, "main");
	make(view);
	text = live_picture_text(view->picture, &view->state, 80, false);
	assert_non_null(strstr(text, "hot (demo)"));
	assert_non_null(strstr(text, "warm (demo)"));
	assert_int_equal(view->state.depth, 2);

	put(view, 0);
	live_picture_open(view->picture, &view->state);
	assert_non_null(strstr(view->state.note, "no function in this line"));
}

static void test_code_without_a_symbol(void **state)
{
	struct view *view = *state;
	const char *text;

	take(view, 9, 5);
	put(view, 2);
	assert_null(name_at(view, 2));
	view->state.opens = LIVE_CALLS;
	live_picture_open(view->picture, &view->state);
	assert_string_equal(live_screen_of(&view->state)->subject.object, "/usr/bin/demo");
	assert_string_equal(live_screen_of(&view->state)->subject.symbol, "");
	make(view);
	text = live_picture_text(view->picture, &view->state, 80, false);
	assert_non_null(strstr(text, "  6.67%       1 main (demo)"));
	assert_null(strstr(text, "hot"));
}

static void test_enter_narrows_what_is_no_function(void **state)
{
	static const struct {
		enum view_by by;
		const char *filter;
	} wanted[] = {
		{ VIEW_PROCESS, "pid=4711" },
		{ VIEW_COMM, "comm=\"two words\"" },
		{ VIEW_UNIT, "unit=a.service" },
		{ VIEW_OBJECT, "object=/usr/bin/demo" },
	};
	struct view *view = *state;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		live_screen_of(&view->state)->by = wanted[i].by;
		take(view, 9, 5);
		put(view, 0);
		view->state.opens = LIVE_HISTORY;
		live_picture_open(view->picture, &view->state);
		assert_non_null(strstr(view->state.note, "that is of functions"));
		view->state.opens = LIVE_CALLS;
		live_picture_open(view->picture, &view->state);
		assert_string_equal(live_screen_of(&view->state)->filter, wanted[i].filter);
		make(view);
		assert_string_equal(name_at(view, 0), "hot");
		assert_int_equal(live_state_press(&view->state, SCREEN_ESCAPE, 10, 10),
				 LIVE_CHANGE);
		assert_int_equal(live_screen_of(&view->state)->by, wanted[i].by);
	}
	live_screen_of(&view->state)->by = VIEW_CONTAINER;
	take(view, 9, 5);
	live_picture_open(view->picture, &view->state);
	assert_int_equal(view->state.depth, 0);
	assert_non_null(strstr(view->state.note, "no function in this row"));
}

static void test_a_pause_keeps_the_picture(void **state)
{
	struct view *view = *state;

	take(view, 9, 5);
	view->state.paused = true;
	take(view, 9, 12);
	assert_string_equal(name_at(view, 0), "hot");
	view->state.paused = false;
	take(view, 9, 12);
	assert_string_equal(name_at(view, 0), "warm");
}

/* Another span comes from the daemon: nothing of this one is shown for it. */
static void test_another_span_is_asked_for(void **state)
{
	struct view *view = *state;

	take(view, 9, 5);
	strcpy(view->state.span, "yesterday");
	make(view);
	assert_false(view->served);
	assert_null(live_picture_top(view->picture));
	view->state.span[0] = '\0';
	make(view);
	assert_true(view->served);
	live_state_open(
		&view->state, LIVE_HISTORY,
		&(struct live_subject){ .symbol = "hot", .object = "/usr/bin/demo", .start = HOT });
	make(view);
	assert_false(view->served);
	assert_null(live_picture_text(view->picture, &view->state, 80, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counts_serve_until_the_profile_comes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_the_cursor_follows_its_row, setup, teardown),
		cmocka_unit_test_setup_teardown(test_on_the_first_row_it_stays_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_it_follows_in_each_view, setup, teardown),
		cmocka_unit_test_setup_teardown(test_frames_of_stacks_are_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_enter_goes_to_callers_and_callees, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_code_without_a_symbol, setup, teardown),
		cmocka_unit_test_setup_teardown(test_enter_narrows_what_is_no_function, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_a_pause_keeps_the_picture, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_span_is_asked_for, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
