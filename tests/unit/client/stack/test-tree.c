/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/render/stack-text.h"
#include "client/stack/tree.h"
#include "common/profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Two processes of one program:
 *
 *   1  main -> a -> b (1 sample, at two places)
 *                   b -> b (4)
 *              c (3)
 *   2  main -> a -> b (2)
 *      a (5)
 */
#define MAIN 0x1000
#define A    0x1100
#define B    0x1200
#define C    0x1300

static void add_function(struct profile *p, uint64_t start, const char *name)
{
	assert_true(profile_add_function(p, &(struct profile_function){
						    .object = 0,
						    .start = start,
						    .size = 0x100,
						    .name = name,
					    }) >= 0);
}

static uint32_t add_frame(struct profile *p, uint32_t process, uint32_t parent, uint64_t offset,
			  uint64_t samples)
{
	int64_t r = profile_add_stack(p, &(struct profile_stack){
						 .process = process,
						 .parent = parent,
						 .frame = { 0, offset },
						 .samples = samples,
						 .weight = samples,
					 });

	assert_true(r >= 0);
	p->counters.samples += samples;
	return (uint32_t)r;
}

static void add_stacks(struct profile *p)
{
	uint32_t root = add_frame(p, 0, PROFILE_NONE, MAIN + 1, 0);
	uint32_t a = add_frame(p, 0, root, A + 1, 0), b;

	b = add_frame(p, 0, a, B + 1, 0);
	add_frame(p, 0, b, B + 8, 4);
	add_frame(p, 0, a, B + 4, 1);
	add_frame(p, 0, add_frame(p, 0, root, A + 2, 0), B, 0);
	add_frame(p, 0, root, C, 3);

	root = add_frame(p, 1, PROFILE_NONE, MAIN + 1, 0);
	add_frame(p, 1, add_frame(p, 1, root, A + 9, 0), B + 9, 2);
	add_frame(p, 1, PROFILE_NONE, A, 5);
}

static struct profile *make_profile(void)
{
	struct profile_object object = { .kind = OBJECT_FILE, .path = "/usr/bin/demo" };
	struct profile_process process = { .comm = "demo", .uid = UINT32_MAX };
	struct profile *p;

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_add_object(p, &object), 0);
	for (process.pid = 1; process.pid < 3; process.pid++)
		assert_true(profile_add_process(p, &process) >= 0);
	add_function(p, MAIN, "main");
	add_function(p, A, "a");
	add_function(p, B, "b");
	add_function(p, C, "c");
	add_stacks(p);
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

/* As text; @width 0: unlimited. */
static char *format(const struct profile *p, const struct view_tree *tree,
		    enum view_tree_first first, size_t width)
{
	struct places places = { .profile = p };
	const struct stack_text_tree what = {
		.places = &places,
		.tree = tree,
		.order = first,
		.n = tree->n_rows,
		.samples = p->counters.samples,
	};
	struct output output = { .width = width };
	char *text = NULL;
	size_t n;

	output.f = open_memstream(&text, &n);
	assert_non_null(output.f);
	assert_int_equal(stack_text_write_tree(&what, &output), 0);
	fclose(output.f);
	return text;
}

static void assert_tree(enum view_tree_first first, size_t n, size_t n_left_out,
			const char *expected)
{
	struct profile *p = make_profile();
	struct view_tree *tree = NULL;
	char *text;

	assert_int_equal(view_tree(&tree, p, first, n), 0);
	assert_int_equal(tree->n_left_out, n_left_out);
	text = format(p, tree, first, 0);
	assert_string_equal(text, expected);
	free(text);
	view_tree_free(tree);
	profile_free(p);
}

static void test_callers_first(void **state)
{
	assert_tree(VIEW_TREE_CALLER, 0, 0,
		    "  TOTAL    SELF SAMPLES FUNCTION\n"
		    " 66.67%   0.00%      10 |- main (demo)\n"
		    " 46.67%   0.00%       7 |  |- a (demo)\n"
		    " 46.67%  20.00%       7 |  |  b (demo)\n"
		    " 26.67%  26.67%       4 |  |  b (demo)\n"
		    " 20.00%  20.00%       3 |  `- c (demo)\n"
		    " 33.33%  33.33%       5 `- a (demo)\n");
}

static void test_callees_first(void **state)
{
	assert_tree(VIEW_TREE_CALLEE, 0, 0,
		    "  TOTAL SAMPLES FUNCTION\n"
		    " 46.67%       7 |- b (demo)\n"
		    " 26.67%       4 |  |- b (demo)\n"
		    " 26.67%       4 |  |  a (demo)\n"
		    " 26.67%       4 |  |  main (demo)\n"
		    " 20.00%       3 |  `- a (demo)\n"
		    " 20.00%       3 |     main (demo)\n"
		    " 33.33%       5 |- a (demo)\n"
		    " 20.00%       3 `- c (demo)\n"
		    " 20.00%       3    main (demo)\n");
}

/* Of code of the functions called @name, or of none if that is NULL. */
static void assert_tree_about(enum view_tree_first first, const char *name, const char *expected)
{
	struct profile *p = make_profile();
	bool functions[8] = {}, objects[] = { !name };
	const struct view_tree_focus focus = { functions, objects };
	struct view_tree *tree = NULL;
	char *text;

	assert_true(p->n_functions <= 8 && p->n_objects == 1);
	for (size_t i = 0; i < p->n_functions; i++)
		functions[i] = name && strcmp(p->functions[i].name, name) == 0;
	assert_int_equal(view_tree_about(&tree, p, first, 0, &focus), 0);
	text = format(p, tree, first, 0);
	assert_string_equal(text, expected);
	free(text);
	view_tree_free(tree);
	profile_free(p);
}

static void test_a_tree_about_a_function(void **state)
{
	assert_tree_about(VIEW_TREE_CALLER, "b",
			  "  TOTAL    SELF SAMPLES FUNCTION\n"
			  " 46.67%  20.00%       7 b (demo)\n"
			  " 26.67%  26.67%       4 b (demo)\n");
	assert_tree_about(VIEW_TREE_CALLEE, "b",
			  "  TOTAL SAMPLES FUNCTION\n"
			  " 46.67%       7 b (demo)\n"
			  " 46.67%       7 a (demo)\n"
			  " 46.67%       7 main (demo)\n");
	assert_tree_about(VIEW_TREE_CALLER, "a",
			  "  TOTAL    SELF SAMPLES FUNCTION\n"
			  " 80.00%  33.33%      12 a (demo)\n"
			  " 46.67%  20.00%       7 b (demo)\n"
			  " 26.67%  26.67%       4 b (demo)\n");
	assert_tree_about(VIEW_TREE_CALLEE, "c",
			  "  TOTAL SAMPLES FUNCTION\n"
			  " 20.00%       3 c (demo)\n"
			  " 20.00%       3 main (demo)\n");
	assert_tree_about(VIEW_TREE_CALLEE, NULL, "  TOTAL SAMPLES FUNCTION\n");
}

static void test_the_hottest_rows_are_a_tree(void **state)
{
	assert_tree(VIEW_TREE_CALLER, 3, 3,
		    "  TOTAL    SELF SAMPLES FUNCTION\n"
		    " 66.67%   0.00%      10 main (demo)\n"
		    " 46.67%   0.00%       7 a (demo)\n"
		    " 46.67%  20.00%       7 b (demo)\n");
}

static void test_rows_are_kept_with_their_paths(void **state)
{
	struct profile *p = make_profile();
	struct view_tree *tree = NULL;
	bool wanted[6] = {};
	char *text;

	assert_int_equal(view_tree(&tree, p, VIEW_TREE_CALLER, 0), 0);
	assert_int_equal(tree->n_rows, 6);
	wanted[1] = true; /* a, called by main */
	assert_int_equal(view_tree_keep(tree, wanted), 0);
	text = format(p, tree, VIEW_TREE_CALLER, 0);
	assert_string_equal(text, "  TOTAL    SELF SAMPLES FUNCTION\n"
				  " 66.67%   0.00%      10 main (demo)\n"
				  " 46.67%   0.00%       7 a (demo)\n"
				  " 46.67%  20.00%       7 b (demo)\n"
				  " 26.67%  26.67%       4 b (demo)\n");
	free(text);
	assert_int_equal(view_tree_keep(tree, memset(wanted, 0, sizeof(wanted))), 0);
	assert_int_equal(tree->n_rows, 0);
	view_tree_free(tree);
	profile_free(p);
}

#define DEPTH 100

/* f calls itself DEPTH times, and every time g as well. */
static struct profile *make_deep_profile(void)
{
	struct profile *p = make_profile();
	struct profile *deep;
	uint32_t at = PROFILE_NONE;

	assert_int_equal(profile_new(&deep), 0);
	assert_int_equal(profile_add_object(deep, &p->objects[0]), 0);
	assert_int_equal(profile_add_process(deep, &p->processes[0]), 0);
	add_function(deep, A, "recursion_with_a_name_that_is_too_long");
	add_function(deep, B, "g");
	for (size_t i = 0; i < DEPTH; i++) {
		at = add_frame(deep, 0, at, A, 1);
		add_frame(deep, 0, at, B, 1);
	}
	assert_int_equal(profile_finalize(deep), 0);
	profile_free(p);
	return deep;
}

static void test_what_is_deep_fits_the_terminal(void **state)
{
	struct profile *p = make_deep_profile();
	struct view_tree *tree = NULL;
	char *text;

	assert_int_equal(view_tree(&tree, p, VIEW_TREE_CALLER, 0), 0);
	assert_int_equal(tree->n_rows, 2 * DEPTH);
	text = format(p, tree, VIEW_TREE_CALLER, 80);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		assert_true(strcspn(line, "\n") <= 80);
	assert_non_null(strstr(text, " ... |  |  "));
	free(text);
	view_tree_free(tree);
	profile_free(p);
}

static void test_nothing_is_no_tree(void **state)
{
	struct profile *p;
	struct view_tree *tree = NULL;

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_finalize(p), 0);
	for (int first = VIEW_TREE_CALLER; first < N_VIEW_TREES; first++) {
		assert_int_equal(view_tree(&tree, p, (enum view_tree_first)first, 0), 0);
		assert_int_equal(tree->n_rows, 0);
		tree = view_tree_free(tree);
	}
	profile_free(p);
}

static void test_names_are_what_they_are_asked_by(void **state)
{
	enum view_tree_first first;

	for (int i = VIEW_TREE_CALLER; i < N_VIEW_TREES; i++) {
		assert_int_equal(view_tree_parse(&first, view_tree_name((enum view_tree_first)i)),
				 0);
		assert_int_equal(first, i);
	}
	assert_int_equal(view_tree_parse(&first, "callers"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers_first),
		cmocka_unit_test(test_callees_first),
		cmocka_unit_test(test_a_tree_about_a_function),
		cmocka_unit_test(test_the_hottest_rows_are_a_tree),
		cmocka_unit_test(test_rows_are_kept_with_their_paths),
		cmocka_unit_test(test_what_is_deep_fits_the_terminal),
		cmocka_unit_test(test_nothing_is_no_tree),
		cmocka_unit_test(test_names_are_what_they_are_asked_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
