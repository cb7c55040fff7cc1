/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <elf.h>

#include "daemon/unwind/rule-cache.h"

#define ROWS     4000
#define STEP     0x40u /* bytes of a row at most */
#define N_RULES  3
#define N_TABLES 3
#define LOOKS    200000

/* Among its rules is one for unknown code and one for code with frame pointers. */
static struct unwind_table make_table(unsigned int seed)
{
	static const struct unwind_rule rules[N_RULES] = {
		{ .cfa = UNWIND_CFA_REGISTER, .cfa_register = UNWIND_X86_SP, .cfa_offset = 8 },
		{ .cfa = UNWIND_CFA_NONE },
		{ .cfa = UNWIND_CFA_POINTER },
	};
	static uint32_t starts[ROWS];
	static uint16_t ids[ROWS];
	const struct unwind_rows rows = { .machine = EM_X86_64,
					  .starts = starts,
					  .rule_ids = ids,
					  .n = ROWS,
					  .rules = rules,
					  .n_rules = N_RULES };
	struct unwind_table table;
	uint32_t at = 0x1000;

	for (size_t i = 0; i < ROWS; i++) {
		starts[i] = at += 1 + (uint32_t)rand_r(&seed) % STEP;
		ids[i] = (uint16_t)(rand_r(&seed) % 8 < 6 ? 0 : 1 + rand_r(&seed) % 2);
	}
	assert_int_equal(unwind_table_pack(&table, &rows), 0);
	return table;
}

static uint64_t first_of(const struct unwind_table *table)
{
	return unwind_table_row(table, 0).start;
}

static uint64_t end_of(const struct unwind_table *table)
{
	return unwind_table_row(table, ROWS - 1).start;
}

static void assert_same(struct rule_cache *cache, uint32_t number, const struct unwind_table *table,
			uint64_t offset)
{
	const struct unwind_rule *expected = unwind_table_find(table, offset);
	bool expected_by_fp = !expected && unwind_table_is_other_code(table, offset), by_fp;

	assert_ptr_equal(rule_cache_find(cache, number, table, offset, &by_fp), expected);
	assert_int_equal(by_fp, expected_by_fp);
}

static void what_it_says_is_what_the_table_says(void **state)
{
	struct unwind_table tables[N_TABLES];
	struct rule_cache *cache = calloc(1, sizeof(*cache));
	unsigned int seed = 1;

	assert_non_null(cache);
	for (unsigned int i = 0; i < N_TABLES; i++)
		tables[i] = make_table(i);
	for (size_t i = 0; i < LOOKS; i++) {
		uint32_t number = (uint32_t)rand_r(&seed) % N_TABLES;

		assert_same(cache, number, &tables[number],
			    (uint32_t)rand_r(&seed) % (ROWS * STEP));
	}
	for (size_t i = 0; i < N_TABLES; i++)
		unwind_table_done(&tables[i]);
	free(cache);
}

static void an_offset_of_more_bits_is_another_one(void **state)
{
	struct unwind_table table = make_table(5);
	struct rule_cache *cache = calloc(1, sizeof(*cache));

	assert_non_null(cache);
	for (uint64_t at = first_of(&table); at < end_of(&table); at += STEP) {
		assert_same(cache, 0, &table, at);
		assert_same(cache, 0, &table, at + (1ull << 32));
		assert_same(cache, 0, &table, at);
	}
	unwind_table_done(&table);
	free(cache);
}

static void a_cleared_one_remembers_nothing(void **state)
{
	struct unwind_table table = make_table(6), other;
	struct rule_cache *cache = calloc(1, sizeof(*cache));
	uint64_t first = first_of(&table), end = end_of(&table);

	assert_non_null(cache);
	for (uint64_t at = first; at < end; at += STEP / 2)
		assert_same(cache, 0, &table, at);
	other = make_table(7);
	rule_cache_clear(cache);
	for (uint64_t at = first; at < end; at += STEP / 2)
		assert_same(cache, 0, &other, at);
	unwind_table_done(&table);
	unwind_table_done(&other);
	free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_says_is_what_the_table_says),
		cmocka_unit_test(an_offset_of_more_bits_is_another_one),
		cmocka_unit_test(a_cleared_one_remembers_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
