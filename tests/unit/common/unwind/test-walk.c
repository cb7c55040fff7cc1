/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where walks end, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/walk-scene.h"

static void test_frames_to_the_start(void **state)
{
	struct scene s = make(three);

	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x3010);
	assert_int_equal(s.frames[0].place, 0x1000);
	assert_int_equal(s.frames[1].place, 0x200f);
	assert_int_equal(s.frames[2].place, 0x300f);
	assert_int_equal(s.result.n_by_fp, 0);
}

/* A call at the end of a function returns to where the next one starts. */
static void test_a_return_address_belongs_to_the_code_before_it(void **state)
{
	struct scene s = make(three);

	s.stack[0] = 0x3000;
	s.stack[2] = 0x4000;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x3000, 0x4000);
}

static void test_a_return_address_of_zero_ends_the_stack(void **state)
{
	struct scene s = make(three);

	s.stack[2] = 0;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010);
}

static void test_the_stack_bytes_end(void **state)
{
	struct scene s = make(three);

	s.input.n_stack = 23;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_STACK, 0x1000, 0x2010);
	s.input.n_stack = 24;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x3010);
	s.input.n_stack = 4;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_STACK, 0x1000);
}

static void test_the_stack_pointer_lies_elsewhere(void **state)
{
	static const uint64_t wrong[] = { 1, STACK - 8, STACK + 1152, UINT64_MAX - 7 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct scene s = make(three);

		s.input.registers.sp = wrong[i];
		walk(&s, 0x1000);
		assert_int_equal(s.result.n_frames, 1);
		assert_true(s.result.end == UNWIND_STACK || s.result.end == UNWIND_FRAME);
	}
}

static void test_what_is_no_return_address(void **state)
{
	struct scene s = make(three);

	s.stack[2] = CODE_END + 0x10;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_NO_RETURN, 0x1000, 0x2010);
	s = make(three);
	s.no_call = 0x2010;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_NO_RETURN, 0x1000);
	assert_int_equal(s.result.stopped_at, 0x1000);
}

static void test_room_for_fewer_frames(void **state)
{
	struct scene s = make(three);

	walk_at_most(&s, 0x1000, 2);
	assert_walk(&s, UNWIND_DEPTH, 0x1000, 0x2010);
	walk_at_most(&s, 0x1000, 3);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x3010);
}

/* push %rbp; mov %rsp, %rbp: the caller's value is needed two frames on. */
static void test_the_saved_frame_pointer(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { SP_PLUS(24), .fp = UNWIND_SAVED_CFA, .fp_offset = -24 },
		[2] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_FP,
			.cfa_offset = 16,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8,
			.fp = UNWIND_SAVED_CFA,
			.fp_offset = -16 },
		[3] = { .cfa = UNWIND_CFA_END },
		[4] = { SP_PLUS(24), .fp = UNWIND_SAVED_LOST },
	};
	struct scene s = make(rules);

	s.stack[0] = STACK + 80;
	s.stack[2] = 0x2020;
	s.stack[11] = 0x3030;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2020, 0x3030);
	walk(&s, 0x4000);
	assert_walk(&s, UNWIND_FRAME, 0x4000, 0x2020);
}

static void test_a_frame_that_lies_below(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_FP,
			.cfa_offset = 16,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8 },
	};
	struct scene s = make(rules);

	s.input.registers.sp = STACK + 64;
	for (uint64_t fp = STACK; fp <= STACK + 48; fp += 8) {
		s.input.registers.fp = fp;
		walk(&s, 0x1000);
		assert_walk(&s, UNWIND_FRAME, 0x1000);
	}
	s.input.registers.fp = STACK + 53; /* not aligned */
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_FRAME, 0x1000);
}

static void test_no_code_at_all(void **state)
{
	struct scene s = make(three);

	walk(&s, 8);
	assert_walk(&s, UNWIND_NO_RETURN, 8);
	s.machine = EM_AARCH64; /* the table of another machine is none */
	walk(&s, 0x1000);
	assert_int_equal(s.result.n_frames, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_to_the_start),
		cmocka_unit_test(test_a_return_address_belongs_to_the_code_before_it),
		cmocka_unit_test(test_a_return_address_of_zero_ends_the_stack),
		cmocka_unit_test(test_the_stack_bytes_end),
		cmocka_unit_test(test_the_stack_pointer_lies_elsewhere),
		cmocka_unit_test(test_what_is_no_return_address),
		cmocka_unit_test(test_room_for_fewer_frames),
		cmocka_unit_test(test_the_saved_frame_pointer),
		cmocka_unit_test(test_a_frame_that_lies_below),
		cmocka_unit_test(test_no_code_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
