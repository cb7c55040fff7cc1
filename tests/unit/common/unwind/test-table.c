/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>

#include "common/unwind/table.h"
#include "common/util/macro.h"

#define FUNCTION UNWIND_FUNCTION

static const struct unwind_rule rules[] = {
	{ .cfa = UNWIND_CFA_NONE },
	{ .cfa = UNWIND_CFA_REGISTER, .cfa_register = UNWIND_X86_SP, .cfa_offset = 8 },
	{ .cfa = UNWIND_CFA_REGISTER, .cfa_register = UNWIND_X86_SP, .cfa_offset = 16 },
};
/* two functions that touch, a gap, and a third one */
static const uint32_t starts[] = { 0x100, 0x101, 0x120, 0x140, 0x150, 0x160 };
static const uint16_t ids[] = { 1 | FUNCTION, 2, 1 | FUNCTION, 0, 2 | FUNCTION, 0 };

static struct unwind_table make(void)
{
	return (struct unwind_table){
		.machine = EM_X86_64,
		.starts = starts,
		.rule_ids = ids,
		.n_rows = ARRAY_SIZE(starts),
		.rules = rules,
		.n_rules = ARRAY_SIZE(rules),
	};
}

static void test_a_row_lasts_until_the_next(void **state)
{
	const struct unwind_table table = make();

	assert_null(unwind_table_find(&table, 0));
	assert_null(unwind_table_find(&table, 0xff));
	assert_ptr_equal(unwind_table_find(&table, 0x100), &rules[1]);
	assert_ptr_equal(unwind_table_find(&table, 0x101), &rules[2]);
	assert_ptr_equal(unwind_table_find(&table, 0x11f), &rules[2]);
	assert_ptr_equal(unwind_table_find(&table, 0x120), &rules[1]);
	assert_ptr_equal(unwind_table_find(&table, 0x15f), &rules[2]);
}

static void test_gaps_have_no_rule(void **state)
{
	const struct unwind_table table = make();

	assert_null(unwind_table_find(&table, 0x140));
	assert_null(unwind_table_find(&table, 0x14f));
	assert_null(unwind_table_find(&table, 0x160));
	assert_null(unwind_table_find(&table, UINT64_MAX));
	assert_null(unwind_table_find(&(struct unwind_table){}, 0));
}

static void test_functions_are_found(void **state)
{
	const struct unwind_table table = make();
	uint64_t start, end;

	for (uint64_t at = 0x100; at < 0x120; at++) {
		assert_true(unwind_table_function(&table, at, &start, &end));
		assert_int_equal(start, 0x100);
		assert_int_equal(end, 0x120);
	}
	assert_true(unwind_table_function(&table, 0x13f, &start, &end));
	assert_int_equal(start, 0x120);
	assert_int_equal(end, 0x140);
	assert_false(unwind_table_function(&table, 0x140, &start, &end));
	assert_true(unwind_table_function(&table, 0x150, &start, &end));
	assert_int_equal(end, 0x160);
	assert_false(unwind_table_function(&table, 0x160, &start, &end));
	assert_false(unwind_table_function(&table, 0xff, &start, &end));
}

static void test_each_lookup_agrees_with_a_search(void **state)
{
	struct unwind_table table = make();

	for (table.n_rows = 1; table.n_rows <= ARRAY_SIZE(starts); table.n_rows++) {
		for (uint64_t at = 0xf0; at < 0x170; at++) {
			const struct unwind_rule *expected = NULL;

			for (size_t i = 0; i < table.n_rows && starts[i] <= at; i++)
				expected = &rules[ids[i] & ~FUNCTION];
			if (expected == &rules[0])
				expected = NULL;
			assert_ptr_equal(unwind_table_find(&table, at), expected);
		}
	}
}

static void test_a_wrong_table_is_refused(void **state)
{
	static const uint32_t unsorted[] = { 0x100, 0x120, 0x101, 0x140, 0x150, 0x160 };
	static const uint16_t wrong_id[] = { 1, 2, 3, 0, 2, 0 };
	static const struct unwind_rule wrong_rules[][1] = {
		{ { .cfa = UNWIND_CFA_N } },
		{ { .cfa_register = UNWIND_N_REGISTERS } },
		{ { .fp = UNWIND_SAVED_N } },
		{ { .ra = UNWIND_SAVED_N } },
		{ { .bx = UNWIND_SAVED_N } },
		{ { .cfa = UNWIND_CFA_JUMP, .ra_offset = -1 } },
		{ { .cfa = UNWIND_CFA_JUMP, .fp_offset = UNWIND_N_REGISTERS } },
	};
	struct unwind_table table = make();

	assert_true(unwind_table_is_valid(&table));
	table.starts = unsorted;
	assert_false(unwind_table_is_valid(&table));
	table = make();
	table.rule_ids = wrong_id;
	assert_false(unwind_table_is_valid(&table));
	table = make();
	table.machine = EM_386;
	assert_false(unwind_table_is_valid(&table));
	table = make();
	table.n_rows = 0;
	table.n_rules = 1;
	assert_true(unwind_table_is_valid(&table));
	for (size_t i = 0; i < ARRAY_SIZE(wrong_rules); i++) {
		table.rules = wrong_rules[i];
		assert_false(unwind_table_is_valid(&table));
	}
}

static void test_a_copy_is_equal(void **state)
{
	const struct unwind_table table = make();
	struct unwind_table copy;

	assert_int_equal(unwind_table_copy(&copy, &table), 0);
	assert_memory_equal(copy.rules, rules, sizeof(rules));
	assert_memory_equal(copy.starts, starts, sizeof(starts));
	assert_memory_equal(copy.rule_ids, ids, sizeof(ids));
	assert_int_equal(unwind_table_bytes(&copy), sizeof(rules) + sizeof(starts) + sizeof(ids));
	unwind_table_done(&copy);
	assert_int_equal(unwind_table_copy(&copy, &(struct unwind_table){}), 0);
	assert_null(unwind_table_find(&copy, 1));
	unwind_table_done(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_row_lasts_until_the_next),
		cmocka_unit_test(test_gaps_have_no_rule),
		cmocka_unit_test(test_functions_are_found),
		cmocka_unit_test(test_each_lookup_agrees_with_a_search),
		cmocka_unit_test(test_a_wrong_table_is_refused),
		cmocka_unit_test(test_a_copy_is_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
