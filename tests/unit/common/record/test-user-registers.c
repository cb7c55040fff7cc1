/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registers of user code in samples made by hand; of perf's own: tests/recordings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "common/record/event.h"
#include "common/record/user-registers.h"
#include "common/util/macro.h"

/* Of each register the kernel's number times 0x100. */
static struct sample make_sample(uint64_t mask)
{
	static uint64_t values[64];
	size_t n = 0;

	for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
		values[n++] = (uint64_t)__builtin_ctzll(rest) * 0x100;
	return (struct sample){ .user_registers = values, .user_registers_mask = mask };
}

static void test_x86_64(void **state)
{
	/* rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15, in the kernel's numbers */
	static const uint8_t numbers[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23 };
	struct sample s = make_sample(0xff0fff); /* flags, cs and ss, too */
	struct user_registers r;

	assert_true(user_registers_read(&s, EM_X86_64, &r));
	assert_int_equal(r.ip, 0x800);
	assert_int_equal(r.sp, 0x700);
	assert_int_equal(r.fp, 0x600);
	assert_int_equal(r.lr, 0);
	assert_int_equal(r.known, 0xffff);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_int_equal(r.values[i], numbers[i] * 0x100);
}

static void test_aarch64(void **state)
{
	struct sample s = make_sample(0x1ffffffff);
	struct user_registers r;

	assert_true(user_registers_read(&s, EM_AARCH64, &r));
	assert_int_equal(r.ip, 0x2000);
	assert_int_equal(r.sp, 0x1f00);
	assert_int_equal(r.lr, 0x1e00);
	assert_int_equal(r.fp, 0x1d00);
	assert_int_equal(r.known, 0xffffffff);
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(r.values[i], i * 0x100);
}

static void test_some_registers(void **state)
{
	struct sample s = make_sample(1 << 8 | 1 << 7 | 1 << 1 | 1ull << 40);
	struct user_registers r;

	assert_true(user_registers_read(&s, EM_X86_64, &r));
	assert_int_equal(r.ip, 0x800);
	assert_int_equal(r.sp, 0x700);
	assert_int_equal(r.fp, 0);
	assert_int_equal(r.known, 1 << 7 | 1 << 3);
	assert_int_equal(r.values[3], 0x100);
}

static void test_no_use(void **state)
{
	struct sample s = { 0 };
	struct user_registers r;

	assert_false(user_registers_read(&s, EM_X86_64, &r));
	s = make_sample(0xff01ff & ~(1 << 7));
	assert_false(user_registers_read(&s, EM_X86_64, &r));
	s = make_sample(0xff01ff & ~(1 << 8));
	assert_false(user_registers_read(&s, EM_X86_64, &r));
	s = make_sample(0xff01ff);
	assert_false(user_registers_read(&s, EM_386, &r));
	assert_false(user_registers_read(&s, 0, &r));
	assert_true(user_registers_read(&s, EM_X86_64, &r));
	s.user_is_32_bit = true;
	assert_false(user_registers_read(&s, EM_X86_64, &r));
}

static void test_names_of_machines(void **state)
{
	assert_int_equal(user_registers_machine("x86_64"), EM_X86_64);
	assert_int_equal(user_registers_machine("aarch64"), EM_AARCH64);
	assert_int_equal(user_registers_machine("i686"), 0);
	assert_int_equal(user_registers_machine(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_some_registers),
		cmocka_unit_test(test_no_use),
		cmocka_unit_test(test_names_of_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
