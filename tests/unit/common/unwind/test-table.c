/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

static void test_a_large_gap_is_other_code(void **state)
{
	static const uint32_t far[] = { 0x100,
					0x200,
					0x200 + UNWIND_OTHER_CODE,
					0x90000,
					0x90000 + UNWIND_OTHER_CODE - 1,
					0x10000000 };
	static const uint16_t far_ids[] = { 1, 0, 1, 0, 2, 0 };
	struct unwind_table table = make();

	assert_false(unwind_table_is_other_code(&table, 0x148));
	table.starts = far;
	table.rule_ids = far_ids;
	assert_true(unwind_table_is_valid(&table));
	assert_false(unwind_table_is_other_code(&table, 0));
	assert_false(unwind_table_is_other_code(&table, 0x1ff));
	assert_true(unwind_table_is_other_code(&table, 0x200));
	assert_true(unwind_table_is_other_code(&table, 0x200 + UNWIND_OTHER_CODE - 1));
	assert_false(unwind_table_is_other_code(&table, 0x200 + UNWIND_OTHER_CODE));
	assert_false(unwind_table_is_other_code(&table, 0x90000)); /* a byte too small */
	/* where the code ends is not known */
	assert_false(unwind_table_is_other_code(&table, 0x10000001));
	assert_false(unwind_table_is_other_code(&(struct unwind_table){}, 0));
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

/* Rows of all distances: dense and far apart, in a table with an index. */
static void test_lookups_by_the_index_agree_with_a_search(void **state)
{
	uint32_t rows[1000];
	uint16_t rule_ids[ARRAY_SIZE(rows)];
	struct unwind_table table = make(), copy;
	uint64_t at = 7, seed = 1;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
		rows[i] = (uint32_t)at;
		rule_ids[i] = (uint16_t)(1 + (i & 1));
		at += 1 + (seed >> 33) % (i % 100 == 0 ? 1000000 : 20);
	}
	table.starts = rows;
	table.rule_ids = rule_ids;
	for (table.n_rows = 1; table.n_rows <= ARRAY_SIZE(rows); table.n_rows += 37) {
		assert_int_equal(unwind_table_copy(&copy, &table), 0);
		assert_int_equal(copy.n_index > 0, table.n_rows >= 32);
		assert_true(copy.n_index <= table.n_rows / 16 + 1);
		assert_null(unwind_table_find(&copy, rows[0] - 1));
		for (size_t i = 0; i < table.n_rows; i++) {
			const struct unwind_rule *rule = &rules[rule_ids[i]];
			bool last = i + 1 == table.n_rows;

			assert_ptr_equal(unwind_table_find(&copy, rows[i]),
					 copy.rules + (rule - rules));
			assert_ptr_equal(
				unwind_table_find(&copy, last ? UINT64_MAX : rows[i + 1] - 1),
				copy.rules + (rule - rules));
		}
		unwind_table_done(&copy);
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
		{ { .fp = UNWIND_SAVED_HELD } },
		{ { .bx = UNWIND_SAVED_HELD } },
		{ { .ra = UNWIND_SAVED_HELD, .ra_offset = UNWIND_N_REGISTERS } },
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

static void test_the_memory_lasts_as_long_as_its_last_owner(void **state)
{
	const struct unwind_table table = make();
	struct unwind_table owners[3];

	assert_int_equal(unwind_table_copy(&owners[0], &table), 0);
	unwind_table_share(&owners[1], &owners[0]);
	unwind_table_share(&owners[2], &owners[1]);
	assert_ptr_equal(owners[2].starts, owners[0].starts);
	unwind_table_done(&owners[0]);
	unwind_table_done(&owners[1]);
	assert_memory_equal(owners[2].rules, rules, sizeof(rules));
	assert_memory_equal(owners[2].starts, starts, sizeof(starts));
	assert_memory_equal(owners[2].rule_ids, ids, sizeof(ids));
	unwind_table_done(&owners[2]);
	assert_null(owners[2].memory);
	unwind_table_share(&owners[0], &owners[2]); /* an empty one has no memory */
	unwind_table_done(&owners[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_row_lasts_until_the_next),
		cmocka_unit_test(test_gaps_have_no_rule),
		cmocka_unit_test(test_a_large_gap_is_other_code),
		cmocka_unit_test(test_functions_are_found),
		cmocka_unit_test(test_each_lookup_agrees_with_a_search),
		cmocka_unit_test(test_lookups_by_the_index_agree_with_a_search),
		cmocka_unit_test(test_a_wrong_table_is_refused),
		cmocka_unit_test(test_a_copy_is_equal),
		cmocka_unit_test(test_the_memory_lasts_as_long_as_its_last_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
