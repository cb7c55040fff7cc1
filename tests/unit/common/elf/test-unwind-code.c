/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rules of code that no call frame information describes, as GCC and glibc assemble it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>

#include "common/elf/unwind-code.h"
#include "common/util/macro.h"

#define ADDRESS 0x1000

struct expected {
	uint32_t at;
	bool function;
	int32_t cfa, fp; /* offsets */
};

static struct unwind_code_row rows[UNWIND_CODE_MAX];

static size_t read_rows(const char *hex)
{
	struct disassembler *disassembler;
	uint8_t code[UNWIND_CODE_MAX];
	size_t n = 0, n_rows;
	int at;

	for (; *hex; hex += at, n++)
		assert_int_equal(sscanf(hex, " %2hhx%n", &code[n], &at), 1);
	assert_int_equal(disassembler_new(&disassembler, EM_X86_64), 0);
	n_rows = unwind_code_read(disassembler, code, n, ADDRESS, rows);
	disassembler_free(disassembler);
	return n_rows;
}

static void check(const char *hex, const struct expected *expected, size_t n)
{
	assert_int_equal(read_rows(hex), n);
	for (size_t i = 0; i < n; i++) {
		const struct unwind_rule *rule = &rows[i].rule;

		assert_int_equal(rows[i].at, expected[i].at);
		assert_int_equal(rows[i].function, expected[i].function);
		assert_int_equal(rule->cfa, UNWIND_CFA_REGISTER);
		assert_int_equal(rule->cfa_register, UNWIND_X86_SP);
		assert_int_equal(rule->cfa_offset, expected[i].cfa);
		assert_int_equal(rule->ra, UNWIND_SAVED_CFA);
		assert_int_equal(rule->ra_offset, -8);
		assert_int_equal(rule->fp, expected[i].fp ? UNWIND_SAVED_CFA : UNWIND_SAVED_NOT);
		assert_int_equal(rule->fp_offset, expected[i].fp);
	}
}

static void test_the_section_of_initialization(void **state)
{
	static const struct expected init[] = { { 0, true, 8, 0 },
						{ 4, false, 16, 0 },
						{ 0x16, false, 8, 0 } };
	static const struct expected fini[] = { { 0, true, 8, 0 },
						{ 8, false, 16, 0 },
						{ 12, false, 8, 0 } };

	check("48 83 ec 08 48 8b 05 ad ff 01 00 48 85 c0 74 02 ff d0 48 83 c4 08 c3", init,
	      ARRAY_SIZE(init));
	check("f3 0f 1e fa 48 83 ec 08 48 83 c4 08 c3", fini, ARRAY_SIZE(fini));
}

/* A jump around the frame, padding between functions, one that only jumps to another. */
static void test_several_functions(void **state)
{
	static const struct expected expected[] = {
		{ 0, true, 8, 0 },   { 16, true, 8, 0 }, { 26, false, 16, -16 },
		{ 35, false, 8, 0 }, { 48, true, 8, 0 },
	};

	/* lea; test; je 15; jmp *%rax; nop; 15: ret */
	check("48 8d 05 00 00 00 00 48 85 c0 74 03 ff e0 90 c3"
	      /* 16: cmpb; jne 36; push %rbp; 26: mov %rsp, %rbp; call 0; pop %rbp; 35: ret; ret */
	      "80 3d 45 2a 02 00 00 75 0b 55 48 89 e5 e8 de ff ff ff 5d c3 c3"
	      /* padding; 48: jmp 0 */
	      "0f 1f 80 00 00 00 00 66 90 90 90 e9 cb ff ff ff",
	      expected, ARRAY_SIZE(expected));
}

/* Where the frame is not known for sure, nothing is said. */
static void test_other_code(void **state)
{
	assert_int_equal(read_rows(""), 0);
	assert_int_equal(read_rows("48 83 ec 08"), 0);             /* it goes on elsewhere */
	assert_int_equal(read_rows("48 83 ec 08 c3"), 0);          /* returns with 8 bytes more */
	assert_int_equal(read_rows("48 83 c4 08 c3"), 0);          /* above its frame */
	assert_int_equal(read_rows("48 29 c4 c3"), 0);             /* sub %rax, %rsp */
	assert_int_equal(read_rows("55 48 89 e5 c9 c3"), 0);       /* leave */
	assert_int_equal(read_rows("31 ed c3"), 0);                /* xor %ebp, %ebp */
	assert_int_equal(read_rows("5d 55 c3"), 0);                /* pops what it has not pushed */
	assert_int_equal(read_rows("54 58 c3"), 0);                /* push %rsp */
	assert_int_equal(read_rows("50 ff e0"), 0);                /* a tail call out of a frame */
	assert_int_equal(read_rows("74 01 50 58 c3"), 0);          /* ways with two frames meet */
	assert_int_equal(read_rows("74 01 48 85 c0 c3"), 0);       /* into an instruction */
	assert_int_equal(read_rows("85 c0 50 74 fb 58 c3"), 0);    /* back, with another frame */
	assert_int_equal(read_rows("48 83 ec 08 74 10 58 c3"), 0); /* out, with a frame */
	assert_int_equal(read_rows("06 c3"), 0);                   /* no instruction */
	assert_int_equal(read_rows("c2 08 00"), 0);                /* ret $8 */
	assert_int_equal(read_rows("74 02 85 c0 c3"), 1);          /* two ways, one frame */
	assert_int_equal(read_rows("85 c0 74 fc c3"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_section_of_initialization),
		cmocka_unit_test(test_several_functions),
		cmocka_unit_test(test_other_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
