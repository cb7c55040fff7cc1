/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/term/elide.h"

#include <string.h>

static void assert_name(const char *name, size_t room, const char *want)
{
	char *text = elide_name(name, room);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void assert_path(const char *path, size_t room, const char *want)
{
	char *text = elide_path(path, room);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void test_what_fits_stays_as_it_is(void **state)
{
	assert_name("main", 4, "main");
	assert_name("Table<std::string>::add(int)", 28, "Table<std::string>::add(int)");
	assert_path("/usr/bin/x", 10, "/usr/bin/x");
}

static void test_arguments_go_first(void **state)
{
	assert_name("Table<std::map<int, long> >::add(int, long)+0x1f", 30,
		    "Table<...>::add(...)+0x1f");
	assert_name("void sort<int*>(int*, int*)", 24, "void sort<...>(...)");
}

static void test_operators_are_not_brackets(void **state)
{
	assert_name("ns::operator<< <std::char_traits<char> >(std::ostream&)", 32,
		    "ns::operator<< <...>(...)");
	assert_name("Function<void (int)>::operator()(int, int, int) const", 40,
		    "Function<...>::operator()(...) const");
	assert_name("Pointer<std::vector<int> >::operator->(void*)", 40,
		    "Pointer<...>::operator->(...)");
	assert_name("(anonymous namespace)::helper(std::string const&)", 40,
		    "(anonymous namespace)::helper(...)");
	assert_name("my_operator<std::vector<int> >(std::string const&)", 30,
		    "my_operator<...>(...)");
}

static void test_a_dot_is_no_part_of_the_mark(void **state)
{
	assert_name("msort_with_tmp.part.0+0x1f", 22, "msort_with_tmp...+0x1f");
	assert_name("msort_with_tmp.part.0+0x1f", 21, "msort_with_tm...+0x1f");
}

static void test_rust_keeps_the_type_of_a_trait(void **state)
{
	assert_name("<alloc::vec::Vec<alloc::string::String> as core::ops::Drop>::drop", 60,
		    "<alloc::vec::Vec<...> as core::ops::Drop>::drop");
}

static void test_an_offset_is_never_truncated(void **state)
{
	assert_name("a_function_of_a_very_long_name+0x12ab", 20, "a_function...+0x12ab");
	assert_name("a_function_of_a_very_long_name+0x12..+0x1f", 22, "a_funct...+0x12..+0x1f");
	assert_name("a_function_of_a_very_long_name", 20, "a_function_of_a_v...");
	assert_name("a_function_of_a_long_name file.c:12..13", 24, "a_funct... file.c:12..13");
	assert_name("function basic_string.tcc:217..basic_string.h:420", 24,
		    "...7..basic_string.h:420");
	assert_name("ns::add(long, int) file.cc:12..13", 28, "ns::add(...) file.cc:12..13");
}

static void test_the_fewest_bytes_of_a_name(void **state)
{
	assert_int_equal(elide_name_least("a_function_of_a_very_long_name"), 0);
	assert_int_equal(elide_name_least("a_function_of_a_very_long_name+0x12ab"), 11);
	assert_name("a_function_of_a_very_long_name+0x12ab", 11, "a...+0x12ab");
	assert_int_equal(elide_name_least("f+0x12..+0x1f"), 13);
	assert_int_equal(elide_name_least("function div.c:7..8"), 15);
	assert_int_equal(elide_name_least("f+0x00000000000000000000000000000000000000000000"), 0);
}

static void test_outer_namespaces_go_before_the_name(void **state)
{
	const char *name = "company::project::Table<std::map<int, long> >::add(long)+0x1f";

	assert_name(name, 30, "...::Table<...>::add(...)+0x1f");
	assert_name(name, 29, "...::add(...)+0x1f");
	assert_name(name, 16, "...::add...+0x1f");
}

static void test_brackets_that_do_not_match_are_text(void **state)
{
	assert_name("strange<name(((", 12, "strange<n...");
	assert_name("odd>name)))))))", 12, "odd>name)...");
}

static void test_characters_are_not_split(void **state)
{
	char *text = elide_name("gr\xc3\xb6\xc3\x9f\xc3\x9f\xc3\x9f\xc3\x9f", 8);

	assert_string_equal(text, "gr\xc3\xb6...");
	free(text);
}

static void test_a_path_keeps_its_end(void **state)
{
	assert_path("/usr/include/c++/12/bits/stl_iterator.h:1121", 30,
		    ".../bits/stl_iterator.h:1121");
	assert_path("/a_name_that_is_much_too_long_for_it.c:7", 12, "...or_it.c:7");
}

static void test_any_room_will_do(void **state)
{
	const char *name = "ns::Table<std::map<int, long> >::operator()(int) const+0x1f..+0x20";

	for (size_t room = 0; room < strlen(name) + 3; room++) {
		free(elide_name(name, room));
		free(elide_path(name, room));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits_stays_as_it_is),
		cmocka_unit_test(test_arguments_go_first),
		cmocka_unit_test(test_operators_are_not_brackets),
		cmocka_unit_test(test_a_dot_is_no_part_of_the_mark),
		cmocka_unit_test(test_rust_keeps_the_type_of_a_trait),
		cmocka_unit_test(test_an_offset_is_never_truncated),
		cmocka_unit_test(test_the_fewest_bytes_of_a_name),
		cmocka_unit_test(test_outer_namespaces_go_before_the_name),
		cmocka_unit_test(test_brackets_that_do_not_match_are_text),
		cmocka_unit_test(test_characters_are_not_split),
		cmocka_unit_test(test_a_path_keeps_its_end),
		cmocka_unit_test(test_any_room_will_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
