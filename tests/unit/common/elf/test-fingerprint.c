/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/whole-fingerprint.h"

#include <elf.h>
#include <string.h>

#define FINGERPRINT(machine, code, address) fingerprint_of(machine, code, sizeof(code), address)

static struct disassembler *make(uint16_t machine)
{
	struct disassembler *disassembler;

	assert_int_equal(disassembler_new(&disassembler, machine), 0);
	return disassembler;
}

static uint64_t fingerprint_of(uint16_t machine, const uint8_t *code, size_t n, uint64_t address)
{
	struct disassembler *disassembler = make(machine);
	uint64_t fingerprint = whole_fingerprint(disassembler, code, n, address);

	disassembler_free(disassembler);
	assert_int_not_equal(fingerprint, 0);
	return fingerprint;
}

/* mov N(%rip),%eax; call F; cmp $IMM,%eax; jne back to the start; ret */
struct program {
	uint8_t code[17];
};

static struct program program(uint32_t load, uint32_t call, uint8_t limit)
{
	struct program p = { { 0x8b, 0x05, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x83, 0xf8, limit, 0x75,
			       0xf0, 0xc3 } };

	memcpy(p.code + 2, &load, 4);
	memcpy(p.code + 7, &call, 4);
	return p;
}

static void test_moved_code_is_the_same(void **state)
{
	struct program a = program(0x1000, 0x2000, 7), b = program(0x5432, 0xfffff000, 7);

	assert_int_equal(FINGERPRINT(EM_X86_64, a.code, 0x1000),
			 FINGERPRINT(EM_X86_64, b.code, 0x555000));
}

static void test_other_code_is_not(void **state)
{
	struct program a = program(0x1000, 0x2000, 7), b = program(0x1000, 0x2000, 8);
	uint64_t first = FINGERPRINT(EM_X86_64, a.code, 0x1000);

	assert_int_not_equal(first, FINGERPRINT(EM_X86_64, b.code, 0x1000));
	a.code[14] = 0x74; /* je for jne */
	assert_int_not_equal(first, FINGERPRINT(EM_X86_64, a.code, 0x1000));
	a.code[14] = 0x75;
	a.code[15] = 0xf6; /* to the call, and not to the start */
	assert_int_not_equal(first, FINGERPRINT(EM_X86_64, a.code, 0x1000));
	a.code[15] = 0xf0;
	assert_int_equal(first, FINGERPRINT(EM_X86_64, a.code, 0x1000));
	assert_int_not_equal(first, fingerprint_of(EM_X86_64, a.code, 16, 0x1000));
}

/* mov $0x404010,%edi; mov 0x404020(,%rax,8),%rax; mov $0x12,%esi */
static void test_absolute_addresses_of_a_fixed_program(void **state)
{
	uint8_t a[] = { 0xbf, 0x10, 0x40, 0x40, 0x00, 0x48, 0x8b, 0x04, 0xc5,
			0x20, 0x40, 0x40, 0x00, 0xbe, 0x12, 0,    0,    0 };
	uint8_t b[sizeof(a)];
	struct disassembler *disassembler = make(EM_X86_64);

	memcpy(b, a, sizeof(a));
	b[1] += 0x40;
	b[9] += 0x40;
	assert_int_not_equal(whole_fingerprint(disassembler, a, sizeof(a), 0x401000),
			     whole_fingerprint(disassembler, b, sizeof(b), 0x401000));
	disassembler_set_absolute(disassembler, 0x400000, 0x405000);
	assert_int_equal(whole_fingerprint(disassembler, a, sizeof(a), 0x401000),
			 whole_fingerprint(disassembler, b, sizeof(b), 0x401000));
	b[14]++; /* a plain number */
	assert_int_not_equal(whole_fingerprint(disassembler, a, sizeof(a), 0x401000),
			     whole_fingerprint(disassembler, b, sizeof(b), 0x401000));
	disassembler_free(disassembler);
}

/* adrp x0, N; add x0, x0, #16; bl F; cbnz w0, to the start; ret */
static void test_aarch64(void **state)
{
	uint32_t a[] = { 0x90000000, 0x91004000, 0x94000100, 0x35ffffa0, 0xd65f03c0 };
	uint32_t b[] = { 0xb0000080, 0x91004000, 0x97ffff00, 0x35ffffa0, 0xd65f03c0 };
	uint64_t first = fingerprint_of(EM_AARCH64, (uint8_t *)a, sizeof(a), 0x1000);

	assert_int_equal(first, fingerprint_of(EM_AARCH64, (uint8_t *)b, sizeof(b), 0x8000));
	b[3] = 0x34ffffa0; /* cbz */
	assert_int_not_equal(first, fingerprint_of(EM_AARCH64, (uint8_t *)b, sizeof(b), 0x8000));
	b[3] = 0x35ffffc0; /* to the second one */
	assert_int_not_equal(first, fingerprint_of(EM_AARCH64, (uint8_t *)b, sizeof(b), 0x8000));
}

static void test_anything_has_one(void **state)
{
	const uint8_t broken[] = { 0x0f, 0xff, 0x06, 0x48 };

	assert_int_not_equal(FINGERPRINT(EM_X86_64, broken, 0),
			     fingerprint_of(EM_X86_64, broken, 3, 0));
	assert_int_not_equal(fingerprint_of(EM_X86_64, broken, 0, 0), 0);
}

static void test_long_code_counts_to_its_end(void **state)
{
	static uint8_t code[300000];
	uint64_t first;

	memset(code, 0x90, sizeof(code));
	first = FINGERPRINT(EM_X86_64, code, 0);
	assert_int_not_equal(first, fingerprint_of(EM_X86_64, code, sizeof(code) - 1, 0));
	code[sizeof(code) - 1] = 0xc3;
	assert_int_not_equal(first, FINGERPRINT(EM_X86_64, code, 0));
}

/* Whatever the pieces are, instructions that reach over their ends count as wholes. */
static void test_in_pieces_it_is_the_same(void **state)
{
	uint8_t code[40 * sizeof(struct program)];
	uint64_t whole;

	for (uint8_t i = 0; i < 40; i++) {
		struct program p = program(0x1000, 0x2000, i);

		memcpy(code + i * sizeof(p), &p, sizeof(p));
	}
	whole = FINGERPRINT(EM_X86_64, code, 0x1000);
	for (size_t piece = INSTRUCTION_MAX; piece < 100; piece++) {
		struct disassembler *disassembler = make(EM_X86_64);
		struct fingerprint f;

		fingerprint_start(&f, disassembler, sizeof(code), 0x1000);
		while (f.n_done < sizeof(code))
			assert_true(fingerprint_add(&f, code + f.n_done,
						    MIN(piece, sizeof(code) - f.n_done)) > 0);
		assert_int_equal(fingerprint_end(&f), whole);
		disassembler_free(disassembler);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_code_is_the_same),
		cmocka_unit_test(test_other_code_is_not),
		cmocka_unit_test(test_absolute_addresses_of_a_fixed_program),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_anything_has_one),
		cmocka_unit_test(test_long_code_counts_to_its_end),
		cmocka_unit_test(test_in_pieces_it_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
