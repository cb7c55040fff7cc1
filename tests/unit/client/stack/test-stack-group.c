/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/stack/code-unit.h"
#include "client/stack/stack-fold.h"
#include "client/stack/stack-group.h"
#include "tests/support/profile-fixture.h"

#define MAIN    0x1000
#define SPIN    0x1100
#define WORK    0x1200
#define UNNAMED 0x9000

/*
 *   main -> spin (7)
 *   main -> work (5), work -> work (4)
 *   two places without a symbol (3 and 3), and no object at all (2)
 */
static struct profile *make_profile(void)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/bin/x", 1);
	uint32_t process = fixture_process(p, "x", "/bin/x");
	uint32_t root, caller;

	fixture_function(p, object, MAIN, "main");
	fixture_function(p, object, SPIN, "spin");
	fixture_function(p, object, WORK, "work");
	root = fixture_stack(p, process, PROFILE_NONE, object, MAIN + 4, 0);
	fixture_stack(p, process, root, object, SPIN + 8, 7);
	caller = fixture_stack(p, process, root, object, WORK + 8, 5);
	fixture_stack(p, process, caller, object, WORK + 12, 4);
	fixture_stack(p, process, PROFILE_NONE, object, UNNAMED, 3);
	fixture_stack(p, process, PROFILE_NONE, object, UNNAMED + 8, 3);
	fixture_stack(p, process, PROFILE_NONE, PROFILE_NONE, UNNAMED, 2);
	return fixture_finalized(p);
}

static int set_up(void **state)
{
	*state = make_profile();
	return 0;
}

static int tear_down(void **state)
{
	profile_free(*state);
	return 0;
}

static void assert_row(const struct view_stacks *stacks, size_t i, uint64_t samples,
		       uint64_t of_group)
{
	assert_int_equal(stacks->rows[i].samples, samples);
	assert_int_equal(stacks->rows[i].group.samples, of_group);
}

static void test_functions_come_by_their_sums(void **state)
{
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = NULL;

	assert_int_equal(view_stacks(&stacks, *state), 0);
	assert_int_equal(stacks->n_rows, 6);
	assert_false(view_stacks_begins_group(stacks, 0));
	assert_int_equal(view_stacks_group(stacks, *state, 6), 0);
	assert_row(stacks, 0, 5, 9);
	assert_row(stacks, 1, 4, 9);
	assert_row(stacks, 2, 7, 7);
	assert_row(stacks, 3, 3, 6); /* code without symbols is one function of its object */
	assert_row(stacks, 4, 3, 6);
	assert_row(stacks, 5, 2, 2);
	assert_int_equal(stacks->rows[3].group.n_stacks, 2);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(view_stacks_begins_group(stacks, i), i != 1 && i != 4);
}

static void test_groups_count_what_is_not_shown(void **state)
{
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = NULL;

	assert_int_equal(view_stacks(&stacks, *state), 0);
	assert_int_equal(view_stacks_group(stacks, *state, 2), 0);
	assert_row(stacks, 0, 5, 9);
	assert_int_equal(stacks->rows[0].group.n_stacks, 2);
	assert_row(stacks, 1, 7, 7);
	assert_row(stacks, 2, 4, 9); /* stays where it was */
}

/* Without call frame information, code without symbols is its object. */
static void test_unnamed_code_is_one_frame(void **state)
{
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = NULL, *folded = NULL;
	size_t n = 0;

	assert_int_equal(view_stacks(&stacks, *state), 0);
	assert_int_equal(view_stacks_fold(&folded, stacks, *state, NULL), 0);
	assert_int_equal(folded->n_rows, 4); /* and the recursion of work */
	for (size_t i = 0; i < folded->n_rows; i++)
		if (code_unit_is_object(folded->rows[i].leaf)) {
			assert_int_equal(folded->rows[i].samples, 6);
			n++;
		}
	assert_int_equal(n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unnamed_code_is_one_frame),
		cmocka_unit_test(test_functions_come_by_their_sums),
		cmocka_unit_test(test_groups_count_what_is_not_shown),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
