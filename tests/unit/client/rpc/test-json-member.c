/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/rpc/json-member.h"

#include <errno.h>
#include <string.h>

#include "common/util/macro.h"

/* The text of member "a"; "-" without it; "!" if the text is not an object. */
static const char *member(const char *text)
{
	static char found[256];
	struct json_member members[] = { { .name = "a" }, { .name = "other" } };
	size_t n_bytes = strlen(text);
	char *copy = malloc(n_bytes + 1); /* of that size: the sanitizer notices reads past it */
	int r;

	assert_non_null(copy);
	memcpy(copy, text, n_bytes + 1);
	r = json_members_find(copy, n_bytes, members, ARRAY_SIZE(members));
	if (r == 0 && members[0].text) {
		assert_true(members[0].n_bytes < sizeof(found));
		memcpy(found, members[0].text, members[0].n_bytes);
		found[members[0].n_bytes] = '\0';
	} else {
		strcpy(found, r == 0 ? "-" : "!");
	}
	free(copy);
	return found;
}

static void test_members_are_found(void **state)
{
	assert_string_equal(member("{\"a\": 1}"), "1");
	assert_string_equal(member(" { \"b\" : 2 , \"a\" : [ 1, {\"a\": 2} ] } "),
			    "[ 1, {\"a\": 2} ]");
	assert_string_equal(member("{\"b\":{\"a\":1},\"a\":\"x\"}"), "\"x\"");
	assert_string_equal(member("{\"b\": \"}\\\"{[\", \"a\": \"\\\\\"}"), "\"\\\\\"");
	assert_string_equal(member("{\"a\": null, \"a\": 2}"), "null");
	assert_string_equal(member("{\"a\":{}\n}"), "{}");
}

static void test_members_may_be_absent(void **state)
{
	assert_string_equal(member("{}"), "-");
	assert_string_equal(member(" { } "), "-");
	assert_string_equal(member("{\"b\": {\"a\": 1}}"), "-");
	assert_string_equal(member("{\"aa\": 1, \"\": 2}"), "-");
}

static void test_invalid_objects(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"[]",
		"1",
		"{",
		"}",
		"{\"a\"",
		"{\"a\":",
		"{\"a\":}",
		"{\"a\":1",
		"{\"a\":1,}",
		"{\"a\":1}}",
		"{\"a\":\"",
		"{\"a\":[}",
		"{\"a\":{1}",
		"{\"a\":1}x",
		"{a:1}",
		"{\"a\" 1}",
		"{\"a\":\"\\",
		"{\"a\\",
		"{,}",
		"{\"a\":1 \"b\":2",
		"HTTP/1.1 400",
		"{\"a\":]}",
		"{}{",
		"{} x",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(member(texts[i]), "!") != 0)
			fail_msg("'%s' was taken for an object", texts[i]);
}

static void test_several_at_once(void **state)
{
	const char *text = "{\"c\": 3, \"a\": [1, 2], \"b\": {\"d\": 4}, \"c\": 5}";
	struct json_member members[] = { { .name = "a" }, { .name = "c" }, { .name = "d" } };

	assert_int_equal(json_members_find(text, strlen(text), members, ARRAY_SIZE(members)), 0);
	assert_int_equal(members[0].n_bytes, 6);
	assert_memory_equal(members[0].text, "[1, 2]", 6);
	assert_int_equal(members[1].n_bytes, 1);
	assert_memory_equal(members[1].text, "3", 1);
	assert_null(members[2].text);
}

/* Truncated anywhere, it is not an object. */
static void test_truncated(void **state)
{
	const char *text = "{\"parameters\": {\"x\": [1, \"a\\\"b\", {}]}, \"a\": {\"b\": \"}\"}}";
	char cut[128];

	for (size_t n = 0; n < strlen(text); n++) {
		memcpy(cut, text, n);
		cut[n] = '\0';
		assert_string_equal(member(cut), "!");
	}
	assert_string_equal(member(text), "{\"b\": \"}\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_are_found),
		cmocka_unit_test(test_members_may_be_absent),
		cmocka_unit_test(test_several_at_once),
		cmocka_unit_test(test_invalid_objects),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
