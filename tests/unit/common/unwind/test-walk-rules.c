/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walks by each kind of rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/walk-scene.h"

static void test_stubs_of_a_plt(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { .cfa = UNWIND_CFA_PLT,
			.cfa_register = 11,
			.cfa_offset = 8,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8 },
		[3] = { .cfa = UNWIND_CFA_END },
	};
	struct scene s = make(rules);

	s.stack[0] = 0x3010;
	s.stack[1] = 0x3020;
	walk(&s, 0x1010);
	assert_walk(&s, UNWIND_COMPLETE, 0x1010, 0x3010);
	walk(&s, 0x101a);
	assert_walk(&s, UNWIND_COMPLETE, 0x101a, 0x3010);
	walk(&s, 0x101b);
	assert_walk(&s, UNWIND_COMPLETE, 0x101b, 0x3020);
}

/* A frame that is found by a word in memory, as where main() aligns its stack. */
static void test_a_frame_in_memory(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { .cfa = UNWIND_CFA_MEMORY,
			.cfa_register = UNWIND_X86_FP,
			.cfa_offset = -8,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8,
			.fp = UNWIND_SAVED_FP },
		[2] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_FP,
			.cfa_offset = 0,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8 },
		[3] = { .cfa = UNWIND_CFA_END },
	};
	struct scene s = make(rules);

	s.input.registers.fp = STACK + 80;
	s.stack[9] = STACK + 160;
	s.stack[10] = STACK + 240; /* the caller's */
	s.stack[19] = 0x2020;
	s.stack[29] = 0x3030;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2020, 0x3030);
}

/* An epilogue that has popped registers: their places are free, and the rules still name them. */
static void test_registers_that_were_popped(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { SP_PLUS(8), .fp = UNWIND_SAVED_CFA, .fp_offset = -16 },
		[2] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_FP,
			.cfa_offset = 16,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8 },
		[3] = { .cfa = UNWIND_CFA_END },
		/* by r10, as where a function has aligned its stack */
		[4] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = 10,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8,
			.fp = UNWIND_SAVED_FP,
			.bx = UNWIND_SAVED_FP,
			.bx_offset = -16 },
	};
	struct scene s = make(rules);

	s.stack[0] = 0x2010;
	s.input.registers.fp = STACK + 80;
	s.stack[11] = 0x3010;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x3010);

	s.input.registers.values[10] = STACK + 32;
	s.input.registers.known = 1U << 10;
	s.stack[3] = 0x2010;
	walk(&s, 0x4000); /* the frame pointer is the caller's */
	assert_walk(&s, UNWIND_COMPLETE, 0x4000, 0x2010, 0x3010);
	s.input.registers.fp = STACK + 8; /* it is not popped yet */
	s.stack[1] = STACK + 80;
	walk(&s, 0x4000);
	assert_walk(&s, UNWIND_COMPLETE, 0x4000, 0x2010, 0x3010);
}

/* vfork() pops its return address into a register, as its child overwrites the stack. */
static void test_a_return_address_in_a_register(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_SP,
			.ra = UNWIND_SAVED_HELD,
			.ra_offset = 5 },
		[2] = { SP_PLUS(16) },
		[3] = { .cfa = UNWIND_CFA_END },
		[4] = { SP_PLUS(8) },
	};
	struct scene s = make(rules);

	s.stack[1] = 0x3010;
	s.input.registers.values[5] = 0x2010;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_FRAME, 0x1000);
	s.input.registers.known = 1U << 5;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x3010);
	s.stack[0] = 0x1010; /* of a caller the register is not known */
	walk(&s, 0x4000);
	assert_walk(&s, UNWIND_FRAME, 0x4000, 0x1010);
	s.no_call = 0x2010;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_NO_RETURN, 0x1000);
}

/* By the return address of the frame that it jumps to, which lies further out, too. */
static void test_a_frame_that_was_replaced(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { SP_PLUS(16), .replaces = 1 },
		[2] = { SP_PLUS(16) },
		[3] = { .cfa = UNWIND_CFA_END },
	};
	struct scene s = make(rules);

	s.stack[1] = 0x2010;
	s.stack[3] = 0x2020;
	s.stack[5] = 0x3010;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x2020, 0x3010);
	s.stack[1] = 0x2020;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_NO_RETURN, 0x1000);
	s.stack[3] = 0x3020;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2020, 0x3020);
}

static void test_a_jump(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { .cfa = UNWIND_CFA_JUMP, .cfa_register = 8, .fp_offset = 9, .ra_offset = 1 },
		[2] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_FP,
			.cfa_offset = 16,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8 },
		[3] = { .cfa = UNWIND_CFA_END },
	};
	struct scene s = make(rules);

	s.input.registers.values[8] = STACK + 64;
	s.input.registers.values[9] = STACK + 80;
	s.input.registers.values[1] = 0x2010;
	s.stack[11] = 0x3010;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_FRAME, 0x1000);
	s.input.registers.known = 1U << 8 | 1U << 9 | 1U << 1;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x3010);
}

/* Another register is known in the leaf only; rbx where it was saved, too. */
static void test_frames_by_other_registers(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = 10,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8 },
		[2] = { SP_PLUS(16), .bx = UNWIND_SAVED_CFA, .bx_offset = -16 },
		[3] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_X86_BX,
			.cfa_offset = 16,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -8 },
		[4] = { .cfa = UNWIND_CFA_END },
		[5] = { SP_PLUS(16) },
	};
	struct scene s = make(rules);

	s.stack[7] = 0x1010;
	s.input.registers.values[10] = STACK + 64;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_FRAME, 0x1000);
	s.input.registers.known = 1U << 10;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_FRAME, 0x1000, 0x1010);

	s = make(rules);
	s.stack[0] = STACK + 80;
	s.stack[1] = 0x3010;
	s.stack[11] = 0x4010;
	walk(&s, 0x2000);
	assert_walk(&s, UNWIND_COMPLETE, 0x2000, 0x3010, 0x4010);
	walk(&s, 0x5000);
	assert_walk(&s, UNWIND_FRAME, 0x5000, 0x3010);
	s.input.registers.known = 1U << UNWIND_X86_BX;
	s.input.registers.values[UNWIND_X86_BX] = STACK + 80;
	walk(&s, 0x5000);
	assert_walk(&s, UNWIND_COMPLETE, 0x5000, 0x3010, 0x4010);
}

/* What a signal interrupted did not call: its address stands for itself, and may lie anywhere. */
static void test_a_signal_handler(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		[1] = { SP_PLUS(8) },
		[2] = { .cfa = UNWIND_CFA_INTERRUPTED,
			.cfa_register = UNWIND_X86_SP,
			.cfa_offset = 160,
			.ra = UNWIND_SAVED_REGISTER,
			.ra_offset = 168,
			.fp = UNWIND_SAVED_REGISTER,
			.fp_offset = 120 },
		[3] = { SP_PLUS(8) },
		[4] = { .cfa = UNWIND_CFA_END },
	};
	struct scene s = make(rules);

	s.stack[0] = 0x2001;
	s.stack[1 + 20] = STACK + 800; /* rsp */
	s.stack[1 + 21] = 0x3000;      /* rip: the first instruction of a function */
	s.stack[100] = 0x4010;
	s.no_call = 0x2001;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2001, 0x3000, 0x4010);
	assert_int_equal(s.frames[2].place, 0x3000);
	assert_int_equal(s.frames[3].place, 0x400f);
	/* from a stack of its own */
	s.stack[1 + 20] = STACK - 8;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_STACK, 0x1000, 0x2001, 0x3000);
}

static void test_code_without_a_table(void **state)
{
	struct scene s = make(three);

	s.input.registers.fp = STACK + 16;
	s.stack[2] = STACK + 48;
	s.stack[3] = 0x8010;
	s.stack[6] = 0;
	s.stack[7] = 0x3010;
	walk(&s, 0x8000);
	assert_walk(&s, UNWIND_COMPLETE, 0x8000, 0x8010, 0x3010);
	assert_int_equal(s.result.n_by_fp, 2);
	s.stack[7] = 0x9010; /* by convention, the frame pointer of the outermost frame is zero */
	walk(&s, 0x8000);
	assert_walk(&s, UNWIND_COMPLETE, 0x8000, 0x8010, 0x9010);
	s.stack[6] = 77;
	walk(&s, 0x8000);
	assert_walk(&s, UNWIND_NO_TABLE, 0x8000, 0x8010, 0x9010);
	s.no_fp = true;
	walk(&s, 0x8000);
	assert_walk(&s, UNWIND_NO_TABLE, 0x8000);
	s.no_fp = false;
	s.input.registers.fp = STACK - 16;
	walk(&s, 0x8000);
	assert_walk(&s, UNWIND_NO_TABLE, 0x8000);
}

static void test_aarch64(void **state)
{
	static const struct unwind_rule rules[MAX_RULES] = {
		/* a leaf, whose return address is in the link register */
		[1] = { .cfa = UNWIND_CFA_REGISTER, .cfa_register = UNWIND_A64_SP },
		[2] = { .cfa = UNWIND_CFA_REGISTER,
			.cfa_register = UNWIND_A64_SP,
			.cfa_offset = 32,
			.ra = UNWIND_SAVED_CFA,
			.ra_offset = -24,
			.fp = UNWIND_SAVED_CFA,
			.fp_offset = -32 },
		[3] = { .cfa = UNWIND_CFA_END },
		[4] = { .cfa = UNWIND_CFA_SIGNAL_A64 },
	};
	struct scene s = make(rules);

	s.machine = EM_AARCH64;
	s.input.registers.lr = 0x0012000000002010; /* signed */
	s.stack[1] = 0xab7f000000003010;
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_COMPLETE, 0x1000, 0x2010, 0x3010);
	s.stack[1] = 0x1010; /* the link register of a caller is not known */
	walk(&s, 0x1000);
	assert_walk(&s, UNWIND_FRAME, 0x1000, 0x2010, 0x1010);

	s = make(rules);
	s.machine = EM_AARCH64;
	s.stack[(312 + 30 * 8) / 8] = 0x3010;      /* lr */
	s.stack[(312 + 31 * 8) / 8] = STACK + 900; /* sp */
	s.stack[(312 + 32 * 8) / 8] = 0x1000;      /* pc, in a leaf */
	walk(&s, 0x4000);
	assert_walk(&s, UNWIND_FRAME, 0x4000, 0x1000);
	s.stack[(312 + 31 * 8) / 8] = STACK + 800;
	walk(&s, 0x4000);
	assert_walk(&s, UNWIND_COMPLETE, 0x4000, 0x1000, 0x3010);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stubs_of_a_plt),
		cmocka_unit_test(test_a_frame_in_memory),
		cmocka_unit_test(test_registers_that_were_popped),
		cmocka_unit_test(test_a_return_address_in_a_register),
		cmocka_unit_test(test_a_frame_that_was_replaced),
		cmocka_unit_test(test_a_jump),
		cmocka_unit_test(test_frames_by_other_registers),
		cmocka_unit_test(test_a_signal_handler),
		cmocka_unit_test(test_code_without_a_table),
		cmocka_unit_test(test_aarch64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
