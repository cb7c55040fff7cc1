/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/elf/demangle.h"

#include <stdio.h>
#include <string.h>

static void check(const char *mangled, const char *expected)
{
	char *name;

	assert_int_equal(demangle(&name, mangled, SIZE_MAX, ""), 0);
	assert_string_equal(name, expected);
	free(name);
}

static void test_cxx(void **state)
{
	check("_Z3fooi", "foo(int)");
	check("_ZN5outer5innerIiE3getEv", "outer::inner<int>::get()");
	check("_ZNSt6vectorIiSaIiEE9push_backEOi",
	      "std::vector<int, std::allocator<int> >::push_back(int&&)");
	check("_ZN3fooD1Ev", "foo::~foo()");
	check("_ZTV3foo", "vtable for foo");
	check("_Z3barv.cold", "bar() [clone .cold]");
	check("_GLOBAL__sub_I__Z3foov", "_GLOBAL__sub_I__Z3foov");
}

static void test_rust_legacy(void **state)
{
	check("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	check("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h"
	      "930b740aa94f1d3aE",
	      "<Test + 'static as foo::Bar<Test>>::bar");
}

static void test_rust_v0(void **state)
{
	check("_RNvC6_123foo3bar", "123foo::bar");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
	check("_RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3new", "<mycrate::foo::Bar>::new");
}

static void test_other_names_stay(void **state)
{
	check("main", "main");
	check("foo.cold", "foo.cold");
	check("foo.constprop.0", "foo.constprop.0");
	check("_start", "_start");
	check("_Z", "_Z");
	check("_Rust_is_fun", "_Rust_is_fun");
	check("", "");
	check("@", "@");
}

static void test_versions_go(void **state)
{
	check("memcpy@@GLIBC_2.14", "memcpy");
	check("memcpy@GLIBC_2.2.5", "memcpy");
	check("_ZNSaIcED1Ev@GLIBCXX_3.4", "std::allocator<char>::~allocator()");
}

static void test_suffix(void **state)
{
	char *name;

	assert_int_equal(demangle(&name, "_ZN1a1bEv", SIZE_MAX, "@plt"), 0);
	assert_string_equal(name, "a::b()@plt");
	free(name);
	assert_int_equal(demangle(&name, "abcdef", 3, "@plt"), 0);
	assert_string_equal(name, "abc@plt");
	free(name);
}

static void test_what_moves_a_cursor_goes(void **state)
{
	check("a\033[2Jb\nc\x7f", "a?[2Jb?c?");
	check("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	check("\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80");
	check("bad\xff\xc3", "bad??");
	check("long\xc0\xaf", "long??");      /* an overlong slash */
	check("half\xed\xa0\x80", "half???"); /* a surrogate */
	check("c1\xc2\x9b", "c1??");          /* a control character in two bytes */
	check("end\xe2\x82", "end??");
}

/* Each argument list says the one before it twice: half a gigabyte at depth 24. */
static void test_a_name_that_explodes_is_left_as_it_is(void **state)
{
	char name[2000] = "_Z1f1AIiiE", *text;

	for (int i = 0; i < 34; i++) {
		static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char more[32];

		snprintf(more, sizeof(more), "S_IS%c_S%c_E", digits[i], digits[i]);
		strcat(name, more);
	}
	assert_int_equal(demangle(&text, name, SIZE_MAX, ""), 0);
	assert_string_equal(text, name);
	free(text);
}

static void test_a_long_name_is_cut(void **state)
{
	char *name = malloc(100001), *text;

	memset(name, 'x', 100000);
	name[100000] = 0;
	assert_int_equal(demangle(&text, name, SIZE_MAX, ""), 0);
	assert_int_equal(strlen(text), DEMANGLE_MAX);
	free(text);
	memcpy(name, "_Z9999", 6);
	assert_int_equal(demangle(&text, name, SIZE_MAX, ""), 0);
	assert_int_equal(strlen(text), DEMANGLE_MAX);
	free(text);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_rust_legacy),
		cmocka_unit_test(test_rust_v0),
		cmocka_unit_test(test_other_names_stay),
		cmocka_unit_test(test_versions_go),
		cmocka_unit_test(test_suffix),
		cmocka_unit_test(test_what_moves_a_cursor_goes),
		cmocka_unit_test(test_a_name_that_explodes_is_left_as_it_is),
		cmocka_unit_test(test_a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
