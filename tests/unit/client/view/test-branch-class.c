/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code looked at is the beginning of this program's file: read as x86 instructions, an ELF file
 * begins with a conditional jump (7f 45), and at its fourth byte is none (02 01).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/view/branch-class.h"

#include <unistd.h>

#define JUMP  0
#define OTHER 4

#define NOWHERE ((struct location){ PROFILE_NONE, 0xffffffff81000000 })

struct fixture {
	struct profile *profile;
	struct symbolizer *symbolizer;
	struct branch_class *class;
	uint32_t program, gone, kernel;
};

static uint32_t add_object(struct profile *p, enum object_kind kind, const char *path)
{
	struct profile_object object = { .kind = kind, .path = path };

	return (uint32_t)profile_add_object(p, &object);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct symbolizer_settings settings = { .symfs = NULL };
	char path[4096] = "";

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(profile_new(&f->profile), 0);
	f->program = add_object(f->profile, OBJECT_FILE, path);
	f->gone = add_object(f->profile, OBJECT_FILE, "/nowhere/at/all");
	f->kernel = add_object(f->profile, OBJECT_KERNEL, "[kernel]");
	assert_int_equal(symbolizer_new(&f->symbolizer, &settings), 0);
	assert_int_equal(branch_class_new(&f->class, f->profile, f->symbolizer), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	branch_class_free(f->class);
	symbolizer_free(f->symbolizer);
	profile_free(f->profile);
	free(f);
	return 0;
}

static enum branch_kind find(struct fixture *f, enum branch_kind reported, struct location from,
			     struct location to)
{
	struct profile_branch branch = { .kind = reported, .from = from, .to = to };
	enum branch_kind kind;

	assert_int_equal(branch_class_find(f->class, &branch, &kind), 0);
	return kind;
}

static void test_by_the_instruction(void **state)
{
#if defined(__x86_64__)
	struct fixture *f = *state;
	struct location jump = { f->program, JUMP }, other = { f->program, OTHER };

	assert_int_equal(find(f, BRANCH_UNKNOWN, jump, other), BRANCH_COND);
	assert_int_equal(find(f, BRANCH_UNKNOWN, other, jump), BRANCH_UNKNOWN);
	assert_int_equal(find(f, BRANCH_UNKNOWN, jump, other), BRANCH_COND);
#endif
}

static void test_many_at_once_are_the_same(void **state)
{
#if defined(__x86_64__)
	struct fixture *f = *state;
	struct location jump = { f->program, JUMP }, other = { f->program, OTHER };
	struct location gone = { f->gone, 0 };
	const struct profile_branch branches[] = {
		{ .from = other, .to = jump },   { .from = jump, .to = other },
		{ .from = jump, .to = gone },    { .from = gone, .to = jump },
		{ .from = NOWHERE, .to = jump },
	};

	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(branch_class_load(f->class, branches, ARRAY_SIZE(branches)), 0);
	assert_int_equal(find(f, BRANCH_UNKNOWN, jump, other), BRANCH_COND);
	assert_int_equal(find(f, BRANCH_UNKNOWN, other, jump), BRANCH_UNKNOWN);
	assert_int_equal(find(f, BRANCH_UNKNOWN, gone, jump), BRANCH_UNKNOWN);
#endif
}

static void test_a_reported_kind_stays(void **state)
{
	struct fixture *f = *state;
	struct location jump = { f->program, JUMP };

	assert_int_equal(find(f, BRANCH_RET, jump, jump), BRANCH_RET);
}

static void test_an_interrupt_may_come_anywhere(void **state)
{
	struct fixture *f = *state;
	struct location other = { f->program, OTHER }, kernel = { f->kernel, 16 };

	assert_int_equal(find(f, BRANCH_UNKNOWN, other, kernel), BRANCH_IRQ);
	assert_int_equal(find(f, BRANCH_UNKNOWN, other, NOWHERE), BRANCH_IRQ);
}

static void test_without_code_it_is_not_known(void **state)
{
	struct fixture *f = *state;
	struct location gone = { f->gone, 0 }, kernel = { f->kernel, 16 };

	assert_int_equal(find(f, BRANCH_UNKNOWN, gone, gone), BRANCH_UNKNOWN);
	assert_int_equal(find(f, BRANCH_UNKNOWN, gone, kernel), BRANCH_UNKNOWN);
	assert_int_equal(find(f, BRANCH_UNKNOWN, kernel, gone), BRANCH_UNKNOWN);
	assert_int_equal(find(f, BRANCH_UNKNOWN, NOWHERE, gone), BRANCH_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_the_instruction, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_at_once_are_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_reported_kind_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_interrupt_may_come_anywhere, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_without_code_it_is_not_known, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
