/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/code-align.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/symbol/symbolizer.h"
#include "common/util/macro.h"

static struct disassembly decode(struct symbolizer *symbolizer, const uint8_t *bytes, size_t n,
				 uint64_t address)
{
	struct disassembly_code code = {
		.machine = EM_X86_64,
		.bytes = bytes,
		.n = n,
		.address = address,
	};
	struct disassembly decoded = {};
	struct fault why;

	assert_int_equal(symbolizer_disassemble(symbolizer, NULL, &code, &decoded, &why), 0);
	return decoded;
}

static uint32_t *align(const uint8_t *old_bytes, size_t n_old, const uint8_t *new_bytes,
		       size_t n_new)
{
	const struct symbolizer_settings settings = {};
	struct symbolizer *symbolizer;
	struct disassembly a, b;
	uint32_t *to;

	assert_int_equal(symbolizer_new(&symbolizer, &settings), 0);
	a = decode(symbolizer, old_bytes, n_old, 0x1000);
	b = decode(symbolizer, new_bytes, n_new, 0x2340);
	symbolizer_free(symbolizer);
	assert_int_equal(code_align_functions(&to, &(struct code_align_side){ &a, n_old, 0x1000 },
					      &(struct code_align_side){ &b, n_new, 0x2340 }),
			 0);
	disassembly_done(&a);
	disassembly_done(&b);
	return to;
}

/* push %rbx; mov $N,%ebx; dec %ebx; jne to the dec; call; pop %rbx; ret */
static const uint8_t before[] = { 0x53, 0xbb, 5, 0, 0, 0, 0xff, 0xcb, 0x75,
				  0xfc, 0xe8, 1, 2, 3, 4, 0x5b, 0xc3 };

static void test_the_same_code_moved(void **state)
{
	const uint32_t starts[] = { 0, 1, 6, 8, 10, 15, 16 };
	uint8_t after[sizeof(before)];
	uint32_t *to;
	size_t k = 0;

	memcpy(after, before, sizeof(before));
	after[11] = 99; /* a call elsewhere */
	to = align(before, sizeof(before), after, sizeof(after));
	for (uint32_t i = 0; i < sizeof(before); i++)
		if (k < ARRAY_SIZE(starts) && i == starts[k]) {
			assert_int_equal(to[i], i);
			k++;
		} else {
			assert_int_equal(to[i], ALIGN_INSIDE);
		}
	free(to);
}

/* Another number, and two instructions more behind it, which the loop does not run. */
static void test_what_was_changed_and_what_only_moved(void **state)
{
	const uint8_t after[] = { 0x53, 0xbb, 6,    0,    0, 0, 0x31, 0xc0, 0x90, 0xff,
				  0xcb, 0x75, 0xfc, 0xe8, 1, 2, 3,    4,    0x5b, 0xc3 };
	uint32_t *to = align(before, sizeof(before), after, sizeof(after));

	assert_int_equal(to[0], 0);
	assert_int_equal(to[1], ALIGN_NONE);
	assert_int_equal(to[6], 9);
	assert_int_equal(to[8], 11);
	assert_int_equal(to[10], 13);
	assert_int_equal(to[16], 19);
	free(to);
}

/* The loop goes back to another instruction: only its branch is another. */
static void test_a_branch_that_leads_elsewhere(void **state)
{
	uint8_t after[sizeof(before)];
	uint32_t *to;

	memcpy(after, before, sizeof(before));
	after[9] = 0xf7; /* to the mov */
	to = align(before, sizeof(before), after, sizeof(after));
	assert_int_equal(to[6], 6);
	assert_int_equal(to[8], ALIGN_NONE);
	assert_int_equal(to[10], 10);
	free(to);
}

static void test_nothing_in_common(void **state)
{
	const uint8_t other[] = { 0x90, 0x90, 0x90 };
	uint32_t *to = align(before, sizeof(before), other, sizeof(other));

	for (size_t i = 0; i < sizeof(before); i++)
		assert_true(to[i] == ALIGN_NONE || to[i] == ALIGN_INSIDE);
	free(to);
	free(align(before, sizeof(before), other, 0));
	free(align(before, 0, other, sizeof(other)));
}

static void test_too_long_for_the_table(void **state)
{
	const size_t n = 6000;
	uint8_t *a = calloc(1, n), *b = calloc(1, n);
	uint32_t *to;

	assert_true(a && b);
	memset(a, 0x90, n); /* nop, and std or cld at both ends of the middle */
	memset(b, 0x90, n);
	a[10] = a[n - 10] = 0xfd;
	b[10] = b[n - 10] = 0xfc;
	to = align(a, n, b, n);
	assert_int_equal(to[9], 9);
	assert_int_equal(to[10], ALIGN_NONE);
	assert_int_equal(to[3000], ALIGN_NONE);
	assert_int_equal(to[n - 9], n - 9);
	free(to);
	free(a);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_code_moved),
		cmocka_unit_test(test_what_was_changed_and_what_only_moved),
		cmocka_unit_test(test_a_branch_that_leads_elsewhere),
		cmocka_unit_test(test_nothing_in_common),
		cmocka_unit_test(test_too_long_for_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
