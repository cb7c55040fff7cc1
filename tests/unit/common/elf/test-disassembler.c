/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes and what they mean are from the manuals; objdump (x86-64) and llvm-objdump (aarch64) say
 * the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/elf/disassembler.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BASE 0x401000u

struct expected {
	const char *bytes; /* hexadecimal */
	enum branch_kind kind;
	const char *text;
	uint64_t target; /* 0: none */
	const char *fixed;
};

static size_t parse_hex(uint8_t *ret, const char *hex)
{
	size_t n = 0;
	int at;

	for (; *hex; hex += at, n++)
		assert_int_equal(sscanf(hex, "%2hhx%n", &ret[n], &at), 1);
	return n;
}

static void check(struct disassembler *d, const struct expected *e)
{
	uint8_t code[INSTRUCTION_MAX] = {}, fixed[INSTRUCTION_MAX] = {};
	size_t n = parse_hex(code, e->bytes);
	struct instruction i;

	parse_hex(fixed, e->fixed ?: e->bytes);
	assert_true(disassembler_decode(d, code, n, BASE, &i));
	assert_string_equal(i.text, e->text);
	assert_int_equal(i.size, n);
	assert_int_equal(i.address, BASE);
	assert_int_equal(i.kind, e->kind);
	assert_int_equal(i.has_target, e->target != 0);
	assert_int_equal(i.target, e->target);
	assert_false(i.is_data);
	assert_memory_equal(i.fixed, fixed, sizeof(fixed));
}

static void check_all(uint16_t machine, const struct expected *all, size_t n)
{
	struct disassembler *d;

	assert_int_equal(disassembler_new(&d, machine), 0);
	for (size_t i = 0; i < n; i++)
		check(d, &all[i]);
	disassembler_free(d);
}

static void test_x86_64(void **state)
{
	static const struct expected all[] = {
		{ "90", BRANCH_UNKNOWN, "nop", 0, NULL },
		{ "4889d8", BRANCH_UNKNOWN, "mov rax, rbx", 0, NULL },
		{ "7510", BRANCH_COND, "jne 0x401012", 0x401012, "7500" },
		{ "0f8400010000", BRANCH_COND, "je 0x401106", 0x401106, "0f8400000000" },
		{ "e2fe", BRANCH_COND, "loop 0x401000", 0x401000, "e200" },
		{ "e3fe", BRANCH_COND, "jrcxz 0x401000", 0x401000, "e300" },
		{ "ebfe", BRANCH_JMP, "jmp 0x401000", 0x401000, "eb00" },
		{ "e9fb0f0000", BRANCH_JMP, "jmp 0x402000", 0x402000, "e900000000" },
		{ "ffe0", BRANCH_IND_JMP, "jmp rax", 0, NULL },
		{ "ff2500100000", BRANCH_IND_JMP, "jmp qword ptr [rip + 0x1000]", 0x402006,
		  "ff2500000000" },
		{ "e8fb0f0000", BRANCH_CALL, "call 0x402000", 0x402000, "e800000000" },
		{ "ffd0", BRANCH_IND_CALL, "call rax", 0, NULL },
		{ "c3", BRANCH_RET, "ret", 0, NULL },
		{ "c20800", BRANCH_RET, "ret 8", 0, NULL },
		{ "0f05", BRANCH_SYSCALL, "syscall", 0, NULL },
		{ "cd80", BRANCH_SYSCALL, "int 0x80", 0, NULL },
		{ "0f07", BRANCH_SYSRET, "sysret", 0, NULL },
		{ "48cf", BRANCH_ERET, "iretq", 0, NULL },
		{ "c7f800010000", BRANCH_UNKNOWN, "xbegin 0x401106", 0, NULL },
		{ "488d0510000000", BRANCH_UNKNOWN, "lea rax, [rip + 0x10]", 0x401017,
		  "488d0500000000" },
		/* a displacement and an immediate, of which the first is relative */
		{ "c7051000000001000000", BRANCH_UNKNOWN, "mov dword ptr [rip + 0x10], 1", 0x40101a,
		  "c7050000000001000000" },
	};

	check_all(EM_X86_64, all, ARRAY_SIZE(all));
}

static void test_aarch64(void **state)
{
	static const struct expected all[] = {
		{ "1f2003d5", BRANCH_UNKNOWN, "nop", 0, NULL },
		{ "200080d2", BRANCH_UNKNOWN, "movz x0, #0x1", 0, NULL },
		{ "81000054", BRANCH_COND, "b.ne #0x401010", 0x401010, "01000054" },
		{ "800000b4", BRANCH_COND, "cbz x0, #0x401010", 0x401010, "000000b4" },
		{ "800000b5", BRANCH_COND, "cbnz x0, #0x401010", 0x401010, "000000b5" },
		{ "80001836", BRANCH_COND, "tbz w0, #3, #0x401010", 0x401010, "00001836" },
		{ "04000014", BRANCH_JMP, "b #0x401010", 0x401010, "00000014" },
		{ "04000094", BRANCH_CALL, "bl #0x401010", 0x401010, "00000094" },
		{ "20001fd6", BRANCH_IND_JMP, "br x1", 0, NULL },
		{ "20003fd6", BRANCH_IND_CALL, "blr x1", 0, NULL },
		{ "c0035fd6", BRANCH_RET, "ret", 0, NULL },
		{ "010000d4", BRANCH_SYSCALL, "svc #0", 0, NULL },
		{ "e0039fd6", BRANCH_ERET, "eret", 0, NULL },
		{ "80000010", BRANCH_UNKNOWN, "adr x0, #0x401010", 0x401010, "00000010" },
		{ "000000b0", BRANCH_UNKNOWN, "adrp x0, #0x402000", 0x402000, "00000090" },
		{ "80000058", BRANCH_UNKNOWN, "ldr x0, #0x401010", 0x401010, "00000058" },
	};

	check_all(EM_AARCH64, all, ARRAY_SIZE(all));
}

static void test_32_bits(void **state)
{
	static const struct expected all[] = {
		{ "40", BRANCH_UNKNOWN, "inc eax", 0, NULL },
		{ "7510", BRANCH_COND, "jne 0x401012", 0x401012, "7500" },
		{ "e8fb0f0000", BRANCH_CALL, "call 0x402000", 0x402000, "e800000000" },
	};

	check_all(EM_386, all, ARRAY_SIZE(all));
}

/* Only the text is another. */
static void test_att(void **state)
{
	static const struct expected all[] = {
		{ "4801d8", BRANCH_UNKNOWN, "addq %rbx, %rax", 0, NULL },
		{ "8b8bf0000000", BRANCH_UNKNOWN, "movl 0xf0(%rbx), %ecx", 0, NULL },
		{ "e8fb0f0000", BRANCH_CALL, "callq 0x402000", 0x402000, "e800000000" },
		{ "7efe", BRANCH_COND, "jle 0x401000", 0x401000, "7e00" },
		{ "488b05f90f0000", BRANCH_UNKNOWN, "movq 0xff9(%rip), %rax", 0x402000,
		  "488b0500000000" },
		{ "c3", BRANCH_RET, "retq", 0, NULL },
	};
	struct disassembler *d;

	assert_int_equal(disassembler_new(&d, EM_X86_64), 0);
	assert_int_equal(disassembler_set_att(d), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check(d, &all[i]);
	disassembler_free(d);
	assert_int_equal(disassembler_new(&d, EM_AARCH64), 0);
	assert_int_equal(disassembler_set_att(d), 0); /* which has one syntax */
	disassembler_free(d);
}

static void test_data_is_passed_over(void **state)
{
	static const uint8_t shadow[] = { 0xf3, 0x48, 0x0f, 0x1e, 0xc8, 0x90 };
	static const uint8_t x86[] = { 0x06, 0x90 }, arm[] = { 0xff, 0xff, 0xff, 0xff, 0x1f };
	struct disassembler *d;
	struct instruction i;

	assert_int_equal(disassembler_new(&d, EM_X86_64), 0);
	assert_true(disassembler_decode(d, x86, sizeof(x86), BASE, &i));
	assert_true(i.is_data);
	assert_int_equal(i.size, 1);
	assert_string_equal(i.text, ".byte 0x06");
	/* an instruction that is cut off */
	assert_true(disassembler_decode(d, (const uint8_t *)"\x0f", 1, BASE, &i));
	assert_true(i.is_data);
	assert_false(disassembler_decode(d, x86, 0, BASE, &i));
	/* rdsspq %rax, which Debian 12's capstone does not know */
	assert_true(disassembler_decode(d, shadow, sizeof(shadow), BASE, &i));
	assert_int_equal(i.size, 5);
	assert_true(!i.is_data || strcmp(i.text, ".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8") == 0);
	disassembler_free(d);

	assert_int_equal(disassembler_new(&d, EM_AARCH64), 0);
	assert_true(disassembler_decode(d, arm, sizeof(arm), BASE, &i));
	assert_true(i.is_data);
	assert_int_equal(i.size, 4);
	assert_true(disassembler_decode(d, arm, 3, BASE, &i));
	assert_int_equal(i.size, 1);
	disassembler_free(d);
}

static void test_machine_not_known(void **state)
{
	struct disassembler *d;

	assert_int_equal(disassembler_new(&d, EM_S390), -EOPNOTSUPP);
	assert_null(disassembler_free(NULL));
}

/* Whatever bytes: an end is reached, and nothing is read beyond. */
static void test_any_bytes(void **state)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64 };
	uint8_t code[4096];
	uint32_t seed = 1;

	for (size_t k = 0; k < sizeof(code); k++) {
		seed = seed * 1664525 + 1013904223;
		code[k] = (uint8_t)(seed >> 24);
	}
	for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
		struct disassembler *d;
		struct instruction i;
		size_t at = 0;

		assert_int_equal(disassembler_new(&d, machines[m]), 0);
		while (disassembler_decode(d, code + at, sizeof(code) - at, BASE + at, &i)) {
			assert_in_range(i.size, 1, sizeof(code) - at);
			assert_true(strlen(i.text) > 0);
			at += i.size;
		}
		assert_int_equal(at, sizeof(code));
		disassembler_free(d);
	}
}

static void test_names_of_kinds(void **state)
{
	uint32_t kinds;

	assert_null(branch_kind_name(BRANCH_UNKNOWN));
	for (enum branch_kind kind = 1; kind < N_BRANCH_KINDS; kind++) {
		assert_non_null(branch_kind_name(kind));
		assert_int_equal(branch_kinds_parse(&kinds, branch_kind_name(kind)), 0);
		assert_int_equal(kinds, 1u << kind);
	}
	assert_int_equal(branch_kinds_parse(&kinds, "cond,ind_jmp"), 0);
	assert_int_equal(kinds, 1u << BRANCH_COND | 1u << BRANCH_IND_JMP);
	assert_int_equal(branch_kinds_parse(&kinds, "any_call"), 0);
	assert_true(kinds & 1u << BRANCH_CALL && kinds & 1u << BRANCH_SYSCALL);
	assert_int_equal(branch_kinds_parse(&kinds, ""), -EINVAL);
	assert_int_equal(branch_kinds_parse(&kinds, "cond,"), -EINVAL);
	assert_int_equal(branch_kinds_parse(&kinds, "con"), -EINVAL);
	assert_int_equal(branch_kinds_parse(&kinds, "cond ,ret"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_32_bits),
		cmocka_unit_test(test_att),
		cmocka_unit_test(test_data_is_passed_over),
		cmocka_unit_test(test_machine_not_known),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_names_of_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
