/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/elf/demangle.h"
#include "common/object/symbol-table.h"

#include <stdio.h>
#include <string.h>

#define LIMIT 0x10000

static struct symbol_table *make(const struct symbol_entry *entries, size_t n)
{
	struct symbol_table *table;

	assert_int_equal(symbol_table_new(&table), 0);
	symbol_table_set_demangler(table, demangle);
	for (size_t i = 0; i < n; i++) {
		struct symbol_entry e = entries[i];

		e.limit = e.limit ? e.limit : LIMIT;
		assert_int_equal(symbol_table_add(table, &e), 0);
	}
	assert_int_equal(symbol_table_finalize(table), 0);
	return table;
}

#define MAKE(...)                                          \
	make((const struct symbol_entry[]){ __VA_ARGS__ }, \
	     ARRAY_SIZE(((const struct symbol_entry[]){ __VA_ARGS__ })))

static const char *at(struct symbol_table *table, uint64_t offset)
{
	size_t i = symbol_table_find(table, offset);

	assert_int_equal(symbol_table_find_near(table, offset, i), i);
	assert_int_equal(symbol_table_find_near(table, offset, 0), i);
	return i == SYMBOL_TABLE_NONE ? "-" : symbol_table_name(table, i);
}

static void test_padding_after_a_function_is_nobodys(void **state)
{
	struct symbol_table *t = MAKE({ .start = 0x10, .size = 0x8, .name = "a" },
				      { .start = 0x20, .size = 0x8, .name = "b" });

	assert_string_equal(at(t, 0x0f), "-");
	assert_string_equal(at(t, 0x10), "a");
	assert_string_equal(at(t, 0x17), "a");
	assert_string_equal(at(t, 0x18), "-");
	assert_string_equal(at(t, 0x20), "b");
	assert_string_equal(at(t, 0x28), "-");
	assert_string_equal(at(t, UINT64_MAX), "-");
	symbol_table_free(t);
}

static void test_an_unknown_size_reaches_to_the_next_function_or_the_limit(void **state)
{
	struct symbol_table *t = MAKE({ .start = 0x10, .name = "a", .limit = 0x30 },
				      { .start = 0x20, .name = "b", .limit = 0x30 },
				      { .start = 0x40, .name = "c", .limit = 0x50 });

	assert_string_equal(at(t, 0x1f), "a");
	assert_string_equal(at(t, 0x20), "b");
	assert_string_equal(at(t, 0x2f), "b");
	assert_string_equal(at(t, 0x30), "-");
	assert_string_equal(at(t, 0x4f), "c");
	assert_string_equal(at(t, 0x50), "-");
	symbol_table_free(t);
}

static void test_a_size_beyond_the_limit_is_cut(void **state)
{
	struct symbol_table *t =
		MAKE({ .start = 0x10, .size = UINT64_MAX, .name = "a", .limit = 0x20 });

	assert_string_equal(at(t, 0x1f), "a");
	assert_string_equal(at(t, 0x20), "-");
	symbol_table_free(t);
}

static void test_of_aliases_the_best_is_kept(void **state)
{
	struct symbol_table *t = MAKE(
		{ .start = 0x10, .size = 8, .name = "aa", .binding = SYMBOL_LOCAL },
		{ .start = 0x10, .size = 8, .name = "weak", .binding = SYMBOL_WEAK },
		{ .start = 0x10, .size = 8, .name = "__global", .binding = SYMBOL_GLOBAL },
		{ .start = 0x10, .size = 8, .name = "globally", .binding = SYMBOL_GLOBAL },
		{ .start = 0x10, .size = 8, .name = "global2", .binding = SYMBOL_GLOBAL },
		{ .start = 0x10, .size = 8, .name = "global1", .binding = SYMBOL_GLOBAL },
		{ .start = 0x10, .size = 0, .name = "g", .binding = SYMBOL_GLOBAL },
		{ .start = 0x10, .size = 8, .name = "l", .binding = SYMBOL_GLOBAL, .label = true });

	assert_int_equal(symbol_table_count(t), 1);
	assert_string_equal(at(t, 0x10), "global1");
	symbol_table_free(t);
}

static void test_the_innermost_of_nested_functions_is_found(void **state)
{
	struct symbol_table *t = MAKE({ .start = 0x10, .size = 0x40, .name = "outer" },
				      { .start = 0x20, .size = 0x10, .name = "inner" },
				      { .start = 0x24, .size = 0x04, .name = "innermost" },
				      { .start = 0x48, .size = 0x10, .name = "overlapping" });

	assert_string_equal(at(t, 0x1f), "outer");
	assert_string_equal(at(t, 0x20), "inner");
	assert_string_equal(at(t, 0x24), "innermost");
	assert_string_equal(at(t, 0x28), "inner");
	assert_string_equal(at(t, 0x30), "outer");
	assert_string_equal(at(t, 0x47), "outer");
	assert_string_equal(at(t, 0x4f), "overlapping");
	assert_string_equal(at(t, 0x57), "overlapping");
	assert_string_equal(at(t, 0x58), "-");
	symbol_table_free(t);
}

static void test_labels_count_where_no_function_is(void **state)
{
	struct symbol_table *t =
		MAKE({ .start = 0x08, .name = "before", .label = true },
		     { .start = 0x10, .size = 0x10, .name = "function" },
		     { .start = 0x18, .name = "within", .label = true },
		     { .start = 0x20, .name = "unsized" },
		     { .start = 0x28, .name = "loop", .label = true },
		     { .start = 0x30, .name = "entry", .label = true, .binding = SYMBOL_GLOBAL });

	assert_string_equal(at(t, 0x0f), "before");
	assert_string_equal(at(t, 0x18), "function");
	assert_string_equal(at(t, 0x28), "unsized");
	assert_string_equal(at(t, 0x30), "entry");
	symbol_table_free(t);
}

static void test_names_are_demangled_and_stubs_marked(void **state)
{
	struct symbol_table *t =
		MAKE({ .start = 0x10, .size = 8, .name = "_ZN1a1bEv" },
		     { .start = 0x20, .size = 8, .name = "puts@GLIBC_2.2.5", .stub = true });

	assert_string_equal(at(t, 0x10), "a::b()");
	assert_string_equal(at(t, 0x20), "puts@plt");
	symbol_table_free(t);
}

static void test_more_can_be_added_to_a_finalized_table(void **state)
{
	struct symbol_table *t = MAKE({ .start = 0x20, .name = "b" });

	assert_string_equal(at(t, 0x10), "-");
	assert_int_equal(symbol_table_add(t, &(struct symbol_entry){ .start = 0x10,
								     .size = 8,
								     .limit = LIMIT,
								     .name = "a" }),
			 0);
	assert_int_equal(symbol_table_finalize(t), 0);
	assert_string_equal(at(t, 0x10), "a");
	assert_string_equal(at(t, 0x20), "b");
	symbol_table_free(t);
}

/* All offsets of a range have the answer of the one it was asked for. */
static void check_range(const struct symbol_table *t, uint64_t offset)
{
	size_t i = symbol_table_find(t, offset);
	uint64_t first, last;

	symbol_table_get_range(t, offset, i, &first, &last);
	assert_in_range(offset, first, last);
	for (uint64_t at = first; at <= MIN(last, (uint64_t)400); at++)
		assert_int_equal(symbol_table_find(t, at), i);
}

/* Against the definition: of all that hold the offset, the one that starts last. */
static void test_random_tables_against_brute_force(void **state)
{
	srand(1);
	for (int round = 0; round < 200; round++) {
		struct symbol_entry e[40];
		char names[40][8];
		struct symbol_table *t;

		for (size_t i = 0; i < 40; i++) {
			snprintf(names[i], sizeof(names[i]), "f%zu", i);
			e[i] = (struct symbol_entry){
				.start = i * 7 + (uint64_t)rand() % 7,
				.size = 1 + (uint64_t)rand() % 12,
				.name = names[i],
			};
		}
		t = make(e, 40);
		for (uint64_t offset = 0; offset < 300; offset++) {
			const char *expected = "-";

			for (size_t i = 0; i < 40; i++)
				if (offset - e[i].start < e[i].size)
					expected = names[i];
			assert_string_equal(at(t, offset), expected);
			check_range(t, offset);
		}
		symbol_table_free(t);
	}
}

static void test_a_packed_table_answers_the_same(void **state)
{
	struct symbol_table *t =
		MAKE({ .start = 0x10, .size = 8, .name = "_ZN1a1bEv" },
		     { .start = 0x20, .size = 8, .name = "puts@GLIBC_2.2.5", .stub = true },
		     { .start = 0x22, .size = 2, .name = "inner", .binding = SYMBOL_GLOBAL });
	size_t n_bytes = symbol_table_bytes(t);
	struct symbol_entry e;

	assert_int_equal(symbol_table_pack(t), 0);
	assert_true(symbol_table_bytes(t) < n_bytes);
	assert_int_equal(symbol_table_count(t), 3);
	assert_string_equal(at(t, 0x17), "a::b()");
	assert_string_equal(at(t, 0x18), "-");
	assert_string_equal(at(t, 0x25), "puts@plt");
	assert_string_equal(at(t, 0x23), "inner");
	e = symbol_table_get(t, 1);
	assert_int_equal(e.start, 0x20);
	assert_int_equal(e.size, 8);
	assert_int_equal(e.limit, 0x28);
	assert_true(e.stub);
	assert_int_equal(symbol_table_get(t, 2).binding, SYMBOL_GLOBAL);
	symbol_table_free(t);
}

static void test_an_empty_table_finds_nothing(void **state)
{
	struct symbol_table *t = make(NULL, 0);

	assert_int_equal(symbol_table_find(t, 0), SYMBOL_TABLE_NONE);
	assert_int_equal(symbol_table_find_near(t, 0, 0), SYMBOL_TABLE_NONE);
	assert_int_equal(symbol_table_count(t), 0);
	symbol_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_padding_after_a_function_is_nobodys),
		cmocka_unit_test(test_an_unknown_size_reaches_to_the_next_function_or_the_limit),
		cmocka_unit_test(test_a_size_beyond_the_limit_is_cut),
		cmocka_unit_test(test_of_aliases_the_best_is_kept),
		cmocka_unit_test(test_the_innermost_of_nested_functions_is_found),
		cmocka_unit_test(test_labels_count_where_no_function_is),
		cmocka_unit_test(test_names_are_demangled_and_stubs_marked),
		cmocka_unit_test(test_more_can_be_added_to_a_finalized_table),
		cmocka_unit_test(test_random_tables_against_brute_force),
		cmocka_unit_test(test_a_packed_table_answers_the_same),
		cmocka_unit_test(test_an_empty_table_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
