/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/profile/container.h"
#include "common/profile/filter.h"
#include "common/profile/patterns.h"
#include "common/util/macro.h"

static bool collect(const char *pattern, const void *userdata)
{
	strcat(strcat((char *)userdata, pattern), "|");
	return false;
}

static void test_lists_are_split(void **state)
{
	static const char *const cases[][2] = {
		{ "a", "a|" },
		{ "a,b*", "a|b*|" },
		{ "f(int, long),g", "f(int, long)|g|" },
		{ "m<a, b>,n", "m<a, b>|n|" },
		{ "operator,,x", "operator,|x|" },
		{ "operator<,x", "operator<|x|" },
		{ "a(b,c", "a(b|c|" },
		{ "a(b,f(int,long)", "a(b|f(int|long)|" }, /* brackets mean nothing then */
		{ "->x,y", "->x|y|" },
		{ "[a,b],c", "[a,b]|c|" },
		{ ",", "|" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char got[100] = "";

		assert_false(patterns_any(cases[i][0], collect, got));
		assert_string_equal(got, cases[i][1]);
	}
}

static void test_numbers_of_lists(void **state)
{
	static const char *const wrong[] = { "",
					     ",",
					     "1,",
					     ",1",
					     "1,,2",
					     "-1",
					     "+1",
					     " 1",
					     "1, 2",
					     "x",
					     "1000",
					     "0x1",
					     "99999999999999999999" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_false(patterns_are_numbers(wrong[i], 999));
	assert_true(patterns_are_numbers("0,999,5", 999));
	assert_true(patterns_have_number("0,999,5", 5));
	assert_true(patterns_have_number("5", 5));
	assert_false(patterns_have_number("0,999,5", 99));
	assert_false(patterns_have_number("50,15", 5));
}

#define ID  "3f4a9c0b12de3f4a9c0b12de3f4a9c0b12de3f4a9c0b12de3f4a9c0b12de3f4a"
#define POD "1b4f6a70-2c3d-4e5f-8a9b-0c1d2e3f4a5b"

static void test_containers_of_control_groups(void **state)
{
	static const struct {
		const char *group, *engine, *pod;
	} cases[] = {
		{ "docker-" ID ".scope", "docker", NULL },
		{ "/docker/" ID, "docker", NULL },
		{ "/docker/" ID "/init.scope", "docker", NULL },
		{ "/system.slice/docker-" ID ".scope/x", "docker", NULL },
		{ "libpod-" ID ".scope", "podman", NULL },
		{ "/libpod_parent/libpod-" ID, "podman", NULL },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		  ".scope/container",
		  "podman", NULL },
		{ "nerdctl-" ID ".scope", "containerd", NULL },
		{ "/default/" ID, "containerd", NULL },
		{ "/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod1b4f6a70_2c3d_4e5f_8a9b_0c1d2e3f4a5b.slice/"
		  "cri-containerd-" ID ".scope",
		  "containerd", POD },
		{ "/kubepods.slice/kubepods-pod1b4f6a70_2c3d_4e5f_8a9b_0c1d2e3f4a5b.slice/"
		  "crio-" ID ".scope",
		  "cri-o", POD },
		{ "/kubepods/besteffort/pod" POD "/" ID, "kubernetes", POD },
		{ NULL, NULL, NULL },
		{ "", NULL, NULL },
		{ "docker.service", NULL, NULL },
		{ "docker-proxy.scope", NULL, NULL },
		{ "docker-3f4a.scope", NULL, NULL },
		{ "docker-" ID "x.scope", NULL, NULL },
		{ "libpod-conmon-" ID ".scope", NULL, NULL },
		{ "/kubepods/besteffort/pod" POD, NULL, NULL },
		{ "/podman/3f4a", NULL, NULL },
		{ "//", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct container found = {};

		assert_int_equal(container_find(&found, cases[i].group), cases[i].engine != NULL);
		if (!cases[i].engine)
			continue;
		assert_string_equal(found.engine, cases[i].engine);
		assert_int_equal(found.n_id, 64);
		assert_memory_equal(found.id, ID, 64);
		assert_int_equal(found.pod != NULL, cases[i].pod != NULL);
		assert_true(container_is_in(&found, "x,3f4a"));
		assert_true(container_is_in(&found, ID));
		assert_true(container_is_in(&found, "*"));
		assert_false(container_is_in(&found, "3f4"));
		assert_false(container_is_in(&found, "9c0b"));
		assert_int_equal(container_is_in(&found, POD), cases[i].pod != NULL);
	}
}

static void test_the_container_is_kept(void **state)
{
	static const char docker[] = "docker-" ID ".scope", user[] = "user@1000.service",
			  rootless[] = "/user.slice/user@1000.service/libpod-" ID ".scope",
			  pod[] = "/kubepods.slice/kubepods-pod" POD ".slice/crio-" ID ".scope";

	assert_ptr_equal(container_choose(docker, "/system.slice/docker-" ID ".scope"), docker);
	assert_ptr_equal(container_choose(user, "/user.slice/user@1000.service"), user);
	assert_ptr_equal(container_choose(user, rootless), rootless);
	assert_ptr_equal(container_choose("crio-" ID ".scope", pod), pod);
}

/* A path of control groups is what each of its parts is. */
static void test_units_of_paths(void **state)
{
	struct profile_process process = { .comm = "x",
					   .unit = "/user.slice/user@1000.service/libpod-" ID
						   ".scope" };

	assert_true(
		profile_process_matches(&process, &(struct profile_filter){ .unit = "user@1000" }));
	assert_true(
		profile_process_matches(&process, &(struct profile_filter){ .unit = "libpod-*" }));
	assert_true(profile_process_matches(&process,
					    &(struct profile_filter){ .container = "3f4a9" }));
	assert_false(profile_process_matches(&process, &(struct profile_filter){ .unit = "user" }));
}

static void test_object_names(void **state)
{
	struct profile_object object = { .path = "/usr/lib/libc.so.6" };

	assert_true(profile_object_matches(&object, "/usr/lib/libc.so.6"));
	assert_true(profile_object_matches(&object, "libc.so.6"));
	assert_false(profile_object_matches(&object, "lib/libc.so.6"));
	assert_false(profile_object_matches(&object, ""));
	object.path = "/usr/bin/app (deleted)";
	assert_true(profile_object_matches(&object, "app"));
	assert_true(profile_object_matches(&object, "/usr/bin/app"));
	assert_true(profile_object_matches(&object, "app (deleted)"));
	object.path = " (deleted)";
	assert_true(profile_object_matches(&object, " (deleted)"));
	assert_false(profile_object_matches(&object, "x"));
	object.path = "[nf_tables]";
	assert_true(profile_object_matches(&object, "[nf_tables]"));
	object.path = "";
	assert_false(profile_object_matches(&object, "x"));
	object.n_build_id = 3;
	memcpy(object.build_id, "\x01\xab\xcd", 3);
	assert_true(profile_object_matches(&object, "01abcd"));
	assert_true(profile_object_matches(&object, "01ABCD"));
	assert_false(profile_object_matches(&object, "01abc"));
	assert_false(profile_object_matches(&object, "01abce"));
	assert_false(profile_object_matches(&object, "01abcdef"));
	object.n_build_id = 5;
	assert_true(profile_object_matches(&object, "01abcd00"));
	assert_true(profile_object_matches(&object, "01ABCD000"));
	assert_false(profile_object_matches(&object, "01abcd0"));
	assert_false(profile_object_matches(&object, "01abcd01"));
	assert_false(profile_object_matches(&object, "01abcd00000"));
}

static void test_symbol_names(void **state)
{
	static const struct {
		const char *name, *wanted;
	} matching[] = {
		{ "main", "main" },
		{ "f(int, char)", "f" },
		{ "ns::f(void (*)(int))", "ns::f" },
		{ "int ns::f<long>(char)", "int ns::f<long>(char)" },
		{ "int ns::f<long>(char)", "int ns::f<long>" },
		{ "int ns::f<long>(char)", "ns::f<long>" },
		{ "int ns::f<long>(char)", "ns::f" },
		{ "std::vector<int, std::allocator<int> >::push_back(int&&)",
		  "std::vector<int, std::allocator<int> >::push_back" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "ns::(anonymous namespace)::f(int)", "ns::(anonymous namespace)::f" },
		{ "A::operator()(int) const", "A::operator()" },
		{ "A::operator<(A const&) const", "A::operator<" },
		{ "A::operator<<(int)", "A::operator<<" },
		{ "std::ostream& operator<< <char>(std::ostream&, char)", "operator<<" },
		{ "A::operator->() const", "A::operator->" },
		{ "A::operator bool() const", "A::operator bool" },
		{ "operator new[](unsigned long)", "operator new[]" },
		{ "operator\"\" _s(char const*)", "operator\"\" _s" },
		{ "f(int)::{lambda(char)#1}::operator()(char) const",
		  "f(int)::{lambda(char)#1}::operator()" },
		{ "A::f() const::{lambda()#1}::operator()() const",
		  "A::f() const::{lambda()#1}::operator()" },
		{ "f[abi:cxx11](int)", "f[abi:cxx11]" },
		{ "f(int) [clone .cold]", "f" },
		{ "my_operator(int)", "my_operator" },
		{ "core::ptr::drop_in_place<alloc::string::String>", "core::ptr::drop_in_place" },
		{ "<T as core::ops::Drop>::drop", "<T as core::ops::Drop>::drop" },
		{ "puts@plt", "puts@plt" },
		{ "ns::(anonymous namespace)::Table<std::pair<int, long>, 7ul>::add(int const&)",
		  "ns::(anonymous namespace)::Table::add" },
		{ "ns::(anonymous namespace)::Table<std::pair<int, long>, 7ul>::add(int const&)",
		  "ns::(anonymous namespace)::Table<...>::add" },
		{ "ns::(anonymous namespace)::Table<std::pair<int, long>, 7ul>::add(int const&)",
		  "ns::(anonymous namespace)::Table<...>::add(...)" },
		{ "void A<int>::B<long>::f<char>(int)", "A::B::f" },
		{ "void A<int>::B<long>::f<char>(int)", "A<int>::B::f" },
		{ "void A<int>::B<long>::f<char>(int)", "A::B<long>::f" },
		{ "void A<int>::B<long>::f<char>(int)", "void A<...>::B<long>::f<...>(...)" },
		{ "A<B<int>, C>::f()", "A<B, C>::f" },
		{ "A<int>::operator<(A<int> const&) const", "A::operator<" },
		{ "bool operator< <int>(A<int> const&)", "operator<" },
		{ "A<int>::operator<<(int)", "A::operator<<" },
		{ "A<int>::operator()<char>(int) const", "A::operator()" },
		{ "A<int>::operator()(int) const", "A<...>::operator()" },
		{ "A<int>::operator->() const", "A::operator->" },
		{ "A<int>::operator-><long>() const", "A::operator->" },
		{ "bool operator><int>(A<int>)", "operator>" },
		{ "bool operator>=<int>(A<int>)", "operator>=" },
		{ "auto operator<=><int>(A<int>)", "operator<=>" },
		{ "A<&(B::operator<(B const&))>::f()", "A::f" },
		{ "A<(B)->c>::f(int)", "A::f" },
		{ "A<int>::operator std::vector<int>() const", "A::operator std::vector" },
		{ "f<int>(int)::{lambda(auto:1)#1}::operator()<char>(char) const",
		  "f(...)::{lambda(auto:1)#1}::operator()" },
		{ "core::mem::swap::<u8>", "core::mem::swap" },
		{ "alloc::vec::Vec::<T>::push", "alloc::vec::Vec::push" },
		{ "<T as core::ops::Fn<A>>::call", "<T as core::ops::Fn>::call" },
		{ "broken<(", "broken" },
		{ "", "" },
	};
	static const struct {
		const char *name, *wanted;
	} others[] = {
		{ "main", "mai" },
		{ "main", "main2" },
		{ "ns::f(int)", "f" },
		{ "f(int)", "f(" },
		{ "f<int>(int)", "" },
		{ "my_operator(int)", "my" },
		{ "f(int)::g()", "f" },
		{ "main.cold", "main" },
		{ "A::operator<(A)", "A::operator" },
		{ "(x)", "" },
		{ "A<int>::f()", "A<long>::f" },
		{ "A<int>::f()", "A<in>::f" },
		{ "A<int>::f()", "A<int>::" },
		{ "A<int>::f()", "A" },
		{ "A<int>::f()", "A<...>" },
		{ "A<int>::f(int)", "A::f(long)" },
		{ "A<int>::f(int)", "A::f(..." },
		{ "A<int>::operator<<(int)", "A::operator<" },
		{ "A<int>::operator<<(int)", "A::operator" },
		{ "A<int>::operator()(int)", "A::operator" },
		{ "<T as core::ops::Drop>::drop", "::drop" },
		{ "operator", "operator<" },
		{ "A::operator", "A::operator()" },
		{ "broken<", "broken<<" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(matching); i++) {
		if (!profile_symbol_matches(matching[i].name, matching[i].wanted))
			fail_msg("%s is not %s", matching[i].name, matching[i].wanted);
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (profile_symbol_matches(others[i].name, others[i].wanted))
			fail_msg("%s is %s", others[i].name, others[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_are_split),
		cmocka_unit_test(test_numbers_of_lists),
		cmocka_unit_test(test_containers_of_control_groups),
		cmocka_unit_test(test_the_container_is_kept),
		cmocka_unit_test(test_units_of_paths),
		cmocka_unit_test(test_object_names),
		cmocka_unit_test(test_symbol_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
