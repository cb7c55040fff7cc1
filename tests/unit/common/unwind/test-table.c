/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <string.h>

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

static const struct unwind_rows rows = {
	.machine = EM_X86_64,
	.starts = starts,
	.rule_ids = ids,
	.n = ARRAY_SIZE(starts),
	.rules = rules,
	.n_rules = ARRAY_SIZE(rules),
};

/* For unwind_table_done(). */
static struct unwind_table pack(const struct unwind_rows *from)
{
	struct unwind_table table;

	assert_int_equal(unwind_table_pack(&table, from), 0);
	return table;
}

/* The number of the rule at @at; 0: none. */
static size_t rule_at(const struct unwind_table *table, uint64_t at)
{
	const struct unwind_rule *rule = unwind_table_find(table, at);

	return rule ? (size_t)(rule - table->rules) : 0;
}

static void test_a_row_lasts_until_the_next(void **state)
{
	struct unwind_table table = pack(&rows);

	assert_int_equal(rule_at(&table, 0), 0);
	assert_int_equal(rule_at(&table, 0xff), 0);
	assert_int_equal(rule_at(&table, 0x100), 1);
	assert_int_equal(rule_at(&table, 0x101), 2);
	assert_int_equal(rule_at(&table, 0x11f), 2);
	assert_int_equal(rule_at(&table, 0x120), 1);
	assert_int_equal(rule_at(&table, 0x15f), 2);
	unwind_table_done(&table);
}

static void test_gaps_have_no_rule(void **state)
{
	struct unwind_table table = pack(&rows);

	assert_null(unwind_table_find(&table, 0x140));
	assert_null(unwind_table_find(&table, 0x14f));
	assert_null(unwind_table_find(&table, 0x160));
	assert_null(unwind_table_find(&table, UINT64_MAX));
	assert_null(unwind_table_find(&(struct unwind_table){}, 0));
	unwind_table_done(&table);
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
	struct unwind_table table = pack(&rows);
	struct unwind_rows apart = rows;

	assert_false(unwind_table_is_other_code(&table, 0x148));
	unwind_table_done(&table);
	apart.starts = far;
	apart.rule_ids = far_ids;
	table = pack(&apart);
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
	unwind_table_done(&table);
}

static void test_functions_are_found(void **state)
{
	struct unwind_table table = pack(&rows);
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
	unwind_table_done(&table);
}

#define MANY 1000

/* Distances of one byte to five, rules of one byte to three. */
static void make_rows(uint32_t *many_starts, uint16_t *many_ids, size_t n_rules)
{
	uint64_t at = 7, seed = 1;

	for (size_t i = 0; i < MANY; i++) {
		seed = seed * 6364136223846793005UL + 1442695040888963407UL;
		many_starts[i] = (uint32_t)at;
		many_ids[i] = (uint16_t)((seed >> 13) % n_rules | (i % 7 ? 0 : FUNCTION));
		at += 1 + (seed >> 33) % (i == 500     ? 1u << 31 :
					  i % 100 == 0 ? 1u << 24 :
					  i % 10 == 0  ? 1000u :
							 20u);
	}
}

static void assert_rows(const struct unwind_table *table, const struct unwind_rows *expected)
{
	assert_true(unwind_table_is_valid(table));
	assert_int_equal(table->n_rows, expected->n);
	for (size_t i = 0; i < expected->n; i++) {
		struct unwind_row row = unwind_table_row(table, i);
		bool last = i + 1 == expected->n;

		assert_int_equal(row.start, expected->starts[i]);
		assert_int_equal(row.rule_id, expected->rule_ids[i]);
		assert_int_equal(rule_at(table, row.start), row.rule_id & ~FUNCTION);
		assert_int_equal(rule_at(table, last ? UINT64_MAX : expected->starts[i + 1] - 1),
				 row.rule_id & ~FUNCTION);
	}
	if (expected->n > 0)
		assert_null(unwind_table_find(table, expected->starts[0] - 1));
}

static void test_what_is_packed_is_found(void **state)
{
	static struct unwind_rule many_rules[UNWIND_MAX_RULES];
	static uint32_t many_starts[MANY];
	static uint16_t many_ids[MANY];
	struct unwind_rows many = rows;
	struct unwind_table table;

	for (size_t i = 1; i < UNWIND_MAX_RULES; i++)
		many_rules[i].cfa = UNWIND_CFA_REGISTER;
	for (many.n_rules = 3; many.n_rules <= UNWIND_MAX_RULES; many.n_rules *= 20) {
		make_rows(many_starts, many_ids, many.n_rules);
		many.starts = many_starts;
		many.rule_ids = many_ids;
		many.rules = many_rules;
		for (many.n = 0; many.n <= MANY; many.n += many.n < 40 ? 1 : 120) {
			table = pack(&many);
			assert_rows(&table, &many);
			assert_true(table.n_bytes <= many.n * 8);
			unwind_table_done(&table);
		}
	}
}

/* As the rows say, without parts. */
static bool find_function(const struct unwind_rows *from, uint64_t at, uint64_t *start,
			  uint64_t *end)
{
	size_t n = 0, first, last;

	while (n < from->n && from->starts[n] <= at)
		n++;
	for (first = n; first > 0 && !(from->rule_ids[first - 1] & FUNCTION); first--)
		if (from->rule_ids[first - 1] == 0)
			return false;
	for (last = n; last < from->n && from->rule_ids[last] != 0; last++)
		if (from->rule_ids[last] & FUNCTION)
			break;
	if (first == 0 || last == from->n)
		return false;
	*start = from->starts[first - 1];
	*end = from->starts[last];
	return true;
}

static void test_functions_of_many_parts(void **state)
{
	static uint32_t many_starts[MANY];
	static uint16_t many_ids[MANY];
	struct unwind_rows many = rows;
	uint64_t start, end, expected_start, expected_end;
	struct unwind_table table;
	size_t n_found = 0;

	many.starts = many_starts;
	many.rule_ids = many_ids;
	many.n = MANY;
	for (uint16_t step = 1; step < 90; step += 11) {
		for (uint16_t i = 0; i < MANY; i++) {
			many_starts[i] = 3u * i;
			many_ids[i] = i % step == 0 ? 1 | FUNCTION : i % 70 == 69 ? 0 : 2;
		}
		table = pack(&many);
		for (uint64_t at = 0; at < 3 * MANY + 2; at++) {
			bool expected = find_function(&many, at, &expected_start, &expected_end);

			assert_int_equal(unwind_table_function(&table, at, &start, &end), expected);
			if (!expected)
				continue;
			assert_int_equal(start, expected_start);
			assert_int_equal(end, expected_end);
			n_found++;
		}
		unwind_table_done(&table);
	}
	assert_true(n_found > 5 * MANY);
}

/* At each row of a part, and the one behind the last of a part. */
static void test_other_code_at_borders_of_parts(void **state)
{
	uint32_t apart_starts[40];
	uint16_t apart_ids[ARRAY_SIZE(apart_starts)];
	struct unwind_rows apart = rows;
	struct unwind_table table;

	apart.starts = apart_starts;
	apart.rule_ids = apart_ids;
	apart.n = ARRAY_SIZE(apart_starts);
	for (size_t gap = 0; gap < ARRAY_SIZE(apart_starts); gap++) {
		for (size_t i = 0; i < ARRAY_SIZE(apart_starts); i++) {
			apart_starts[i] = (uint32_t)(i + (i > gap ? UNWIND_OTHER_CODE : 0));
			apart_ids[i] = i == gap ? 0 : 1;
		}
		table = pack(&apart);
		for (size_t i = 0; i < ARRAY_SIZE(apart_starts); i++)
			assert_int_equal(unwind_table_is_other_code(&table, apart_starts[i]),
					 i == gap && i + 1 < ARRAY_SIZE(apart_starts));
		unwind_table_done(&table);
	}
}

/* Numbers in more bytes than they need would make a table larger than its rows can be. */
static void test_padded_numbers_are_refused(void **state)
{
	static const uint8_t good[] = { 2, 1, 2 }, padded[] = { 2, 0x81, 0, 2 },
			     large[] = { 2, 0xff, 0xff, 0xff, 0xff, 0x1f, 2 };
	static const struct unwind_part part = { 0, 0 };
	struct unwind_table table = {
		.machine = EM_X86_64,
		.n_rows = 2,
		.rules = rules,
		.n_rules = ARRAY_SIZE(rules),
		.parts = &part,
		.bytes = good,
		.n_bytes = sizeof(good),
	};

	assert_true(unwind_table_is_valid(&table));
	table.bytes = padded;
	table.n_bytes = sizeof(padded);
	assert_false(unwind_table_is_valid(&table));
	table.bytes = large;
	table.n_bytes = sizeof(large);
	assert_false(unwind_table_is_valid(&table));
}

static void assert_refused(const struct unwind_table *table)
{
	struct unwind_table wrong = *table;

	assert_false(unwind_table_is_valid(&wrong));
}

/* Whatever one byte of the rows is changed to, they are refused, or sorted and in bounds. */
static void test_wrong_bytes_do_no_harm(void **state)
{
	struct unwind_table table = pack(&rows), changed = table;
	uint8_t bytes[32];
	size_t n_refused = 0;

	assert_in_range(table.n_bytes, 1, sizeof(bytes));
	changed.bytes = bytes;
	for (size_t i = 0; i < table.n_bytes; i++) {
		for (unsigned int value = 0; value < 256; value++) {
			memcpy(bytes, table.bytes, table.n_bytes);
			bytes[i] = (uint8_t)value;
			if (!unwind_table_is_valid(&changed)) {
				n_refused++;
				continue;
			}
			for (size_t row = 1; row < changed.n_rows; row++)
				assert_true(unwind_table_row(&changed, row).start >
					    unwind_table_row(&changed, row - 1).start);
			for (uint64_t at = 0; at < 0x200; at++)
				assert_in_range(rule_at(&changed, at), 0, ARRAY_SIZE(rules) - 1);
		}
	}
	assert_true(n_refused > 200);
	unwind_table_done(&table);
}

static void test_wrong_parts_are_refused(void **state)
{
	static uint32_t many_starts[MANY];
	static uint16_t many_ids[MANY];
	struct unwind_rows many = rows;
	struct unwind_part parts[3];
	struct unwind_table table, changed;

	make_rows(many_starts, many_ids, many.n_rules);
	many.starts = many_starts;
	many.rule_ids = many_ids;
	many.n = 40;
	table = changed = pack(&many);
	changed.parts = parts;
#define WITH(change)                                       \
	do {                                               \
		memcpy(parts, table.parts, sizeof(parts)); \
		change;                                    \
		assert_refused(&changed);                  \
	} while (0)
	WITH(parts[0].at = 1);
	WITH(parts[1].at++);
	WITH(parts[1].at = UINT32_MAX);
	WITH(parts[2].at = parts[1].at - 1);
	WITH(parts[1].start = parts[0].start);
	WITH(parts[2].start = 0);
	WITH(changed.n_bytes--);
	changed.n_bytes = table.n_bytes;
	WITH(changed.n_rows = 39);
	WITH(changed.n_rows = 0);
	changed.n_rows = table.n_rows;
#undef WITH
	memcpy(parts, table.parts, sizeof(parts));
	assert_true(unwind_table_is_valid(&changed));
	unwind_table_done(&table);
}

static void test_a_wrong_table_is_refused(void **state)
{
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
	struct unwind_rows wrong = rows;
	struct unwind_table table = pack(&rows);

	assert_true(unwind_table_is_valid(&table));
	table.machine = EM_386;
	assert_refused(&table);
	unwind_table_done(&table);
	wrong.rule_ids = wrong_id;
	table = pack(&wrong);
	assert_refused(&table);
	unwind_table_done(&table);
	table = (struct unwind_table){ .machine = EM_X86_64, .n_rules = 1, .rules = rules };
	assert_true(unwind_table_is_valid(&table));
	for (size_t i = 0; i < ARRAY_SIZE(wrong_rules); i++) {
		table.rules = wrong_rules[i];
		assert_refused(&table);
	}
}

static void test_a_copy_is_equal(void **state)
{
	struct unwind_table table = pack(&rows), copy;

	assert_int_equal(unwind_table_copy(&copy, &table), 0);
	unwind_table_done(&table);
	assert_memory_equal(copy.rules, rules, sizeof(rules));
	assert_rows(&copy, &rows);
	assert_int_equal(unwind_table_bytes(&copy),
			 sizeof(rules) + sizeof(struct unwind_part) + copy.n_bytes);
	unwind_table_done(&copy);
	assert_int_equal(unwind_table_copy(&copy, &(struct unwind_table){}), 0);
	assert_null(unwind_table_find(&copy, 1));
	unwind_table_done(&copy);
}

static void test_the_memory_lasts_as_long_as_its_last_owner(void **state)
{
	struct unwind_table owners[3] = { pack(&rows) };

	unwind_table_share(&owners[1], &owners[0]);
	unwind_table_share(&owners[2], &owners[1]);
	assert_ptr_equal(owners[2].bytes, owners[0].bytes);
	unwind_table_done(&owners[0]);
	unwind_table_done(&owners[1]);
	assert_memory_equal(owners[2].rules, rules, sizeof(rules));
	assert_rows(&owners[2], &rows);
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
		cmocka_unit_test(test_what_is_packed_is_found),
		cmocka_unit_test(test_functions_of_many_parts),
		cmocka_unit_test(test_other_code_at_borders_of_parts),
		cmocka_unit_test(test_padded_numbers_are_refused),
		cmocka_unit_test(test_wrong_bytes_do_no_harm),
		cmocka_unit_test(test_wrong_parts_are_refused),
		cmocka_unit_test(test_a_wrong_table_is_refused),
		cmocka_unit_test(test_a_copy_is_equal),
		cmocka_unit_test(test_the_memory_lasts_as_long_as_its_last_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
