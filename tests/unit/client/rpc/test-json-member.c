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
	const char *value;
	size_t n, n_bytes = strlen(text);
	char *copy = malloc(n_bytes + 1); /* of that size: the sanitizer notices reads past it */
	int r;

	assert_non_null(copy);
	memcpy(copy, text, n_bytes + 1);
	r = json_member_find(copy, n_bytes, "a", &value, &n);
	if (r > 0) {
		assert_true(n < sizeof(found));
		memcpy(found, value, n);
		found[n] = '\0';
	}
	free(copy);
	return r > 0 ? found : r == 0 ? "-" : "!";
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
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(member(texts[i]), "!") != 0)
			fail_msg("'%s' was taken for an object", texts[i]);
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
		cmocka_unit_test(test_invalid_objects),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
