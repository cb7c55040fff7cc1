/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/profile/limit/names.h"
#include "common/util/cleanup.h"

#define LONG 1000

enum { ROOTS, USERS, JIT, N_OBJECTS };

/* Each name is LONG bytes, and different. */
static const char *long_name(char *buffer, char first)
{
	memset(buffer, 'x', LONG);
	buffer[0] = first;
	buffer[LONG] = '\0';
	return buffer;
}

static struct profile *make(void)
{
	struct profile_object objects[N_OBJECTS] = {
		[USERS] = { .untrusted = true }, [JIT] = { .kind = OBJECT_MEMORY }
	};
	struct profile *p = NULL;
	char name[LONG + 1];

	assert_int_equal(profile_new(&p), 0);
	for (uint32_t i = 0; i < N_OBJECTS; i++) {
		struct profile_function function = { .object = i, .size = 16 };
		struct profile_process process = { .pid = (int32_t)i + 1, .uid = i, .comm = "x" };

		objects[i].inode = i;
		objects[i].path = long_name(name, (char)('a' + i));
		assert_int_equal(profile_add_object(p, &objects[i]), i);
		function.name = long_name(name, (char)('k' + i));
		assert_int_equal(profile_add_function(p, &function), i);
		process.executable = long_name(name, (char)('r' + i));
		assert_int_equal(profile_add_process(p, &process), i);
	}
	return p;
}

static void test_few_names_are_kept(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make();

	assert_int_equal(profile_limit_names(p, 6 * LONG, 100), 0);
	for (size_t i = 0; i < N_OBJECTS; i++)
		assert_int_equal(strlen(p->functions[i].name), LONG);
}

static void test_chosen_names_are_truncated(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make();

	assert_int_equal(profile_limit_names(p, 6 * LONG - 1, 100), 1);
	for (size_t i = 0; i < N_OBJECTS; i++) {
		size_t expected = i == ROOTS ? LONG : 100;

		assert_int_equal(strlen(p->objects[i].path), expected);
		assert_int_equal(strlen(p->functions[i].name), expected);
		assert_int_equal(strlen(p->processes[i].executable), expected);
		assert_int_equal(p->functions[i].name[0], 'k' + i);
	}
	assert_string_equal(p->functions[USERS].name + 97, "...");
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_limit_names(p, 6 * LONG - 1, 100), 0);
}

/* No character is cut in two. */
static void test_characters_are_whole(void **state)
{
	struct profile_object object = { .untrusted = true, .path = "" };
	_cleanup_(profile_freep) struct profile *p = NULL;

	assert_int_equal(profile_new(&p), 0);
	object.path = "0123456789ab\xe2\x82\xac more of it";
	assert_int_equal(profile_add_object(p, &object), 0);
	assert_int_equal(profile_limit_names(p, 0, 17), 1);
	assert_string_equal(p->objects[0].path, "0123456789ab...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_names_are_kept),
		cmocka_unit_test(test_chosen_names_are_truncated),
		cmocka_unit_test(test_characters_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
