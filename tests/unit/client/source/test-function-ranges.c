/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The symbolizer is this file's own: it knows one symbol and one function of a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/source/function-ranges.h"
#include "common/symbol/symbolizer.h"

static struct symbol known_symbol;                /* without a name: none */
static struct symbolizer_function known_function; /* empty: none */

int symbolizer_find(struct symbolizer *symbolizer, const struct profile_object *object,
		    uint64_t offset, struct symbol *ret)
{
	*ret = known_symbol;
	return known_symbol.name != NULL;
}

int symbolizer_function(struct symbolizer *symbolizer, const struct profile_object *object,
			uint64_t offset, struct symbolizer_function *ret)
{
	if (known_function.end == 0)
		return 0;
	*ret = known_function;
	return 1;
}

static bool find(struct function_range *ret)
{
	const struct profile_object object = { .kind = OBJECT_FILE, .path = "/bin/x" };

	return function_ranges_find(NULL, &object, 0x1010, ret);
}

/* Of a function of the table at 0x1000, whose symbol has the name. */
static struct function_range named(const char *name)
{
	struct function_range range;

	known_symbol = (struct symbol){ .start = 0x1008, .size = 0x10, .name = name };
	known_function = (struct symbolizer_function){ .start = 0x1000, .end = 0x1100 };
	assert_true(find(&range));
	return range;
}

static void test_the_table_is_exact(void **state)
{
	struct function_range range = named("work");

	assert_int_equal(range.start, 0x1000);
	assert_int_equal(range.end, 0x1100);
	assert_int_equal(range.kind, FUNCTION_PLAIN);
	assert_int_not_equal(range.name, 0);
}

static void test_without_a_table_the_symbol_has_to_do(void **state)
{
	struct function_range range;

	named("work");
	known_function = (struct symbolizer_function){};
	assert_true(find(&range));
	assert_int_equal(range.start, 0x1008);
	assert_int_equal(range.end, 0x1018);
}

static void test_stripped_code_has_a_range_without_a_name(void **state)
{
	struct function_range range;

	named("work");
	known_symbol = (struct symbol){};
	assert_true(find(&range));
	assert_int_equal(range.start, 0x1000);
	assert_int_equal(range.end, 0x1100);
	assert_int_equal(range.name, 0);
	known_function = (struct symbolizer_function){};
	assert_false(find(&range));
}

static void test_parts_of_a_function_have_its_name(void **state)
{
	static const char *const parts[] = { "work.cold", "work.cold.3", "work [clone .cold]" };
	uint64_t name = named("work").name;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct function_range part = named(parts[i]);

		assert_int_equal(part.kind, FUNCTION_APART);
		assert_int_equal(part.name, name);
	}
	assert_int_not_equal(named("worker.cold").name, name);
	assert_int_equal(named("work.part.0").kind, FUNCTION_PLAIN);
}

static void test_what_jumps_out_of_its_callers(void **state)
{
	assert_int_equal(named("siglongjmp").kind, FUNCTION_LEAVES);
	assert_int_equal(named("__cxa_throw").kind, FUNCTION_LEAVES);
	assert_int_equal(named("__cxa_throw@plt").kind, FUNCTION_LEAVES);
	assert_int_equal(named("_Unwind_RaiseException.cold").kind, FUNCTION_LEAVES);
	assert_int_equal(named("_Unwind_Resume").kind, FUNCTION_RESUMES);
	assert_int_equal(named("longjmp_later").kind, FUNCTION_PLAIN);
	assert_int_equal(named("longjm").kind, FUNCTION_PLAIN);
}

/* The table has one function for all stubs of a PLT. */
static void test_a_stub_is_as_long_as_its_symbol(void **state)
{
	struct function_range stub = named("puts@plt"), range;

	assert_int_equal(stub.kind, FUNCTION_STUB);
	assert_int_equal(stub.name, 0);
	assert_int_equal(stub.start, 0x1008);
	assert_int_equal(stub.end, 0x1018);
	known_symbol.name = ".plt";
	assert_false(find(&range));
}

static void test_where_a_task_begins(void **state)
{
	struct function_range range;

	named("_start");
	known_function.is_outermost = true;
	assert_true(find(&range));
	assert_int_equal(range.kind, FUNCTION_OUTERMOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table_is_exact),
		cmocka_unit_test(test_without_a_table_the_symbol_has_to_do),
		cmocka_unit_test(test_stripped_code_has_a_range_without_a_name),
		cmocka_unit_test(test_parts_of_a_function_have_its_name),
		cmocka_unit_test(test_what_jumps_out_of_its_callers),
		cmocka_unit_test(test_a_stub_is_as_long_as_its_symbol),
		cmocka_unit_test(test_where_a_task_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
