/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "common/json/json-text.h"
#include "common/json/profile-json.h"
#include "common/util/cleanup.h"
#include "tests/support/profile-text.h"
#include "tests/support/random-profile.h"

static void test_what_is_written_is_read_exactly(void **state)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		_cleanup_free_ char *text = written(p);
		_cleanup_(profile_freep) struct profile *q = read_back(text);

		assert_true(q->finalized);
		assert_true(profile_equal(p, q));
	}
}

static void test_any_reader_of_json_can_read_it(void **state)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(3, 0);
	_cleanup_free_ char *text = written(p);
	json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(json);
	assert_int_equal(json_integer_value(json_object_get(json, "profile")), 7);
	assert_int_equal(json_array_size(json_object_get(json_object_get(json, "stacks"), "rows")),
			 p->n_stacks);
	json_decref(json);
}

static void test_the_largest_numbers_survive(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL, *q = NULL;
	_cleanup_free_ char *text = NULL;
	struct profile_branch branch = {
		.process = PROFILE_NONE,
		.from = { PROFILE_NONE, UINT64_MAX },
		.to = { PROFILE_NONE, 0 },
		.taken = UINT64_MAX,
		.mispredicted = (uint64_t)INT64_MAX + 1,
		.predicted = INT64_MAX,
	};

	assert_int_equal(profile_new(&p), 0);
	profile_add_branch(p, &branch);
	p->counters.weight = UINT64_MAX;
	p->info.end_ns = UINT64_MAX;
	assert_int_equal(profile_finalize(p), 0);
	text = written(p);
	assert_non_null(strstr(text, "\"18446744073709551615\""));
	assert_non_null(strstr(text, "\"9223372036854775808\",9223372036854775807"));
	q = read_back(text);
	assert_true(profile_equal(p, q));
}

static void check_text(const char *bytes, const char *want)
{
	json_t *json = json_text(bytes);
	_cleanup_free_ char *back = NULL;
	json_t *valid;

	assert_non_null(json);
	if (want)
		assert_string_equal(json_string_value(json), want);
	valid = json_string(json_string_value(json)); /* which checks that it is UTF-8 */
	assert_non_null(valid);
	json_decref(valid);
	back = json_text_bytes(json_string_value(json));
	assert_string_equal(back, bytes);
	json_decref(json);
}

static void test_strings_of_any_bytes_survive(void **state)
{
	uint64_t random = 1;

	check_text("", "");
	check_text("/usr/bin/a \\x2d \"b\"\n", "/usr/bin/a \\x2d \"b\"\n");
	check_text("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		   "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	check_text("caf\xe9", "caf\xee\xbf\xa9");
	check_text("\x80\xff", "\xee\xbe\x80\xee\xbf\xbf");
	check_text("\xc3", NULL); /* truncated */
	check_text("\xe2\x82", NULL);
	check_text("\xf0\x9f\x98", NULL);
	check_text("\xc0\xaf", NULL);               /* longer than need be */
	check_text("\xed\xa0\x80", NULL);           /* a surrogate */
	check_text("\xf4\x90\x80\x80", NULL);       /* beyond the last character */
	check_text("\xee\xbe\x80", NULL);           /* the escapes themselves */
	check_text("\xee\xbd\xbf", "\xee\xbd\xbf"); /* and the character before them */
	for (size_t i = 0; i < 20000; i++) {
		static const char bytes[] = "a\x80\xbf\xc3\xe0\xed\xee\xbe\xf0\xf4\x90\xff";
		char text[8] = "";

		for (size_t k = 0; k < 7; k++)
			text[k] = bytes[random_below(&random, sizeof(bytes))];
		check_text(text, NULL);
	}
}

/* The text of a small profile with @from replaced by @to, which must occur. */
static char *altered(const char *from, const char *to)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_free_ char *text = NULL;
	char *at, *result = NULL;
	struct profile_object object = { .path = "/a", .n_build_id = 2, .inode = 3 };
	struct profile_process process = { .pid = 5, .comm = "c", .uid = 6, .samples = 4 };
	struct profile_function function = {
		.start = 16, .size = 8, .name = "f", .fingerprint = 254
	};
	struct profile_stack caller = {
		.parent = PROFILE_NONE, .frame = { 0, 18 }, .samples = 1, .weight = 1
	};
	struct profile_stack leaf = { .frame = { 0, 19 }, .samples = 3, .weight = 3 };
	struct profile_stream newest = {
		.parent = PROFILE_NONE, .from = { 0, 8 }, .to = { 0, 5 }, .cycles = 7
	};
	struct profile_stream before = { .from = { 0, 9 }, .to = { 0, 4 }, .hits = 6 };
	struct profile_branch branch = { .from = { 0, 1 }, .to = { 0, 2 }, .taken = 9 };
	struct profile_block block = { .start = 2, .end = 3, .runs = 8 };

	assert_int_equal(profile_new(&p), 0);
	profile_add_object(p, &object);
	profile_add_process(p, &process);
	profile_add_function(p, &function);
	profile_add_stack(p, &caller);
	profile_add_stack(p, &leaf);
	profile_add_stream(p, &newest);
	profile_add_stream(p, &before);
	profile_add_branch(p, &branch);
	profile_add_block(p, &block);
	assert_int_equal(profile_finalize(p), 0);
	text = written(p);
	at = strstr(text, from);
	if (!at)
		fail_msg("%s is not in %s", from, text);
	assert_true(asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >
		    0);
	return result;
}

static void test_order_and_spaces_do_not_matter(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "{\"profile\"", " \t\n{ \"profile\" " },
		{ "[0,0,0,\"0x13\",3,0,3,0]", " [ 0 , 0 , 0 ,\n\"0x13\" , 3,0, 3, 0 ] " },
		{ "{\"kind\": \"file\", \"path\": \"/a\"",
		  "{\"path\": \"/\\u0061\", \"kind\": \"file\"" },
		{ "\"0x13\"", "\"0x0013\"" },
		{ "\"start\": \"0x10\"", "\"start\":\"0x10\"" },
		{ "\"name\": \"f\"", "\"name\": \"\\u0066\"" },
		{ "\"fingerprint\": \"0xfe\"}", "\"fingerprint\": \"0xfe\" }" },
		{ "\"size\": 8, \"name\": \"f\"", "\"name\": \"f\", \"size\": 8" },
	};
	_cleanup_free_ char *plain = altered("", "");
	_cleanup_(profile_freep) struct profile *want = read_back(plain);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = altered(cases[i].from, cases[i].to);
		_cleanup_(profile_freep) struct profile *p = read_back(text);

		assert_true(profile_equal(p, want));
	}
}

/* Most are read without jansson, see profile-json-objects.c. */
static void test_names_of_functions_survive(void **state)
{
	static const char *const names[] = { "",     "f(int, char const*)", "a\"b", "a\\",
					     "a\tb", "caf\xc3\xa9",         "\xff" };
	_cleanup_(profile_freep) struct profile *p = NULL, *q = NULL;
	struct profile_object object = { .path = "/a" };
	struct profile_function function = { .size = 1 };
	_cleanup_free_ char *text = NULL;
	char longer[300] = "";

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_add_object(p, &object), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names) + sizeof(longer) - 1; i++) {
		struct profile_stack stack = { .parent = PROFILE_NONE,
					       .process = PROFILE_NONE,
					       .samples = 1 };

		if (i >= ARRAY_SIZE(names))
			longer[i - ARRAY_SIZE(names)] = 'x';
		function.name = i < ARRAY_SIZE(names) ? names[i] : longer;
		function.start = stack.frame.offset = i;
		function.fingerprint = i % 3;
		assert_true(profile_add_function(p, &function) >= 0);
		assert_true(profile_add_stack(p, &stack) >= 0);
	}
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(p->n_functions, ARRAY_SIZE(names) + sizeof(longer) - 1);
	text = written(p);
	q = read_back(text);
	assert_true(profile_equal(p, q));
}

/* The tables may come in any order: a stack then refers to objects that follow. */
static void test_tables_in_another_order(void **state)
{
	_cleanup_free_ char *plain = altered("", ""), *sorted = NULL;
	_cleanup_(profile_freep) struct profile *want = read_back(plain), *p = NULL;
	json_t *json = json_loads(plain, 0, NULL), *last = json_object();
	static const char *const names[] = { "profile",  "stacks",  "functions", "info",
					     "blocks",   "objects", "streams",   "processes",
					     "branches", "counters" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		json_object_set(last, names[i], json_object_get(json, names[i]));
	sorted = json_dumps(last, 0);
	p = read_back(sorted);
	assert_true(profile_equal(p, want));
	json_decref(json);
	json_decref(last);
}

/* What version 3 does not say is unknown: its processes are restricted. */
static void test_version_3_is_read(void **state)
{
	static const char *const missing[][2] = {
		{ "\"profile\": 7", "\"profile\": 3" },
		{ ", \"restricted\": false", "" },
		{ ", \"gone\": 0", "" },
		{ ", \"untrusted\": false, \"ctime_ns\": null", "" },
		{ "\"records_unknown\": 0, ", "" },
		{ "\"stacks_unwound\": 0, ", "" },
	};
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_free_ char *text = altered("", "");

	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		char *at = strstr(text, missing[i][0]);
		size_t n = strlen(missing[i][0]), n_new = strlen(missing[i][1]);

		assert_non_null(at);
		memcpy(at, missing[i][1], n_new);
		memmove(at + n_new, at + n, strlen(at + n) + 1);
	}
	p = read_back(text);
	assert_true(p->processes[0].restricted);
	assert_false(p->objects[0].untrusted);
	assert_int_equal(p->objects[0].ctime_ns, 0);
	assert_int_equal(p->counters.records_unknown, 0);
}

static void test_what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *from, *to, *fault;
	} cases[] = {
		{ "{\"profile\": 7,\n", "{", "must come first" },
		{ "\"profile\": 7", "\"profile\": 8", "this program reads versions 3 to 7" },
		{ "\"profile\": 7", "\"profile\": 7, \"profile\": 7", "profile: unknown member" },
		{ "\"info\"", "\"extra\": 1, \"info\"", "extra: unknown member" },
		{ "\"info\"", "\"in\\u0066o\"", "unknown member" },
		{ "\"mode\": null, ", "", "info: mode: is missing" },
		{ "\"mode\": null", "\"mode\": 1", "info: mode: a string" },
		{ "\"mode\": null", "\"mode\": null, \"x\": [[[[]]]]", "info: unknown member" },
		{ "\"mode\": null", "\"mode\": null, \"mode\": null", "duplicate" },
		{ "\"n_cpus\": null", "\"n_cpus\": 4294967296", "info: n_cpus: too large" },
		{ "\"n_cpus\": null", "\"n_cpus\": 0", "info: n_cpus: null expected" },
		{ "\"samples\": 0", "\"samples\": -1", "counters: samples: a count below zero" },
		{ "\"samples\": 0", "\"samples\": 1.0", "counters: samples: a whole number" },
		{ "\"samples\": 0", "\"samples\": \"5\"", "counters: samples: a whole number" },
		{ "\"samples\": 0", "\"samples\": 9223372036854775808", "too big" },
		{ "\"samples\": 0", "\"samples\": \"18446744073709551616\"", "a whole number" },
		{ "\"pid\": 5", "\"pid\": 2147483648", "processes row 0: pid: too large" },
		{ "\"restricted\": false", "\"restricted\": 0", "restricted: true or false" },
		{ ", \"restricted\": false", "", "processes row 0: restricted: is missing" },
		{ ", \"untrusted\": false", "", "objects row 0: untrusted: is missing" },
		{ ", \"ctime_ns\": null", "", "objects row 0: ctime_ns: is missing" },
		{ "\"records_unknown\": 0, ", "", "counters: records_unknown: is missing" },
		{ "\"comm\": \"c\"", "\"comm\": null", "processes row 0: comm: a string" },
		{ "\"comm\": \"c\"", "\"comm\": \"a\\u0000b\"", "\\u0000" },
		{ "\"comm\": \"c\"", "\"comm\": \"\xff\"", "decode byte 0xff" },
		{ "\"kind\": \"file\"", "\"kind\": \"fil\"", "objects row 0: kind: not a kind" },
		{ "\"kind\": \"file\"", "\"kind\": 0", "objects row 0: kind: not a kind" },
		{ "\"build_id\": \"0000\"", "\"build_id\": \"000\"", "build_id: up to 40" },
		{ "\"build_id\": \"0000\"", "\"build_id\": \"00AA\"", "build_id: up to 40" },
		{ "\"build_id\": \"0000\"", "\"build_id\": \"\"", "build_id: up to 40" },
		{ "\"start\": \"0x10\"", "\"start\": \"16\"", "functions row 0: start" },
		{ "\"start\": \"0x10\"", "\"start\": \"0x\"", "functions row 0: start" },
		{ "\"start\": \"0x10\"", "\"start\": \"0x11111111111111111\"", "start" },
		{ "{\"object\": 0", "{\"object\": 1", "functions row 0: refers to" },
		{ "{\"object\": 0", "{\"object\": 4294967295", "functions row 0: object: null" },
		{ "\"name\": \"f\"", "\"name\": \"\xff\"", "decode byte 0xff" },
		{ "\"name\": \"f\"", "\"name\": \"a\tb\"", "control character" },
		{ "\"0xfe\"}", "\"0xfe\", \"x\": 1}", "functions row 0: unknown member" },
		{ "\"0xfe\"}", "\"0xfe\", \"name\": \"f\"}", "duplicate" },
		{ "\"parent\", ", "", "stacks: parent: not the column" },
		{ "\"pruned\"]", "\"pruned\", \"x\"]", "stacks: variance: not the column" },
		{ "\"pruned\"]", "\"pruned\", \"variance\", \"x\"]", "']' expected" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[1,0,0,\"0x13\",3,0,3,0]",
		  "stacks row 1: parent: not" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,null,0,\"0x13\",3,0,3,0]",
		  "stacks row 1: process: another" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,1,\"0x13\",3,0,3,0]",
		  "stacks row 1: refers to" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,4294967295,\"0x13\",3,0,3,0]",
		  "stacks row 1: object: not a row" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,0,19,3,0,3,0]",
		  "stacks row 1: offset: \"0x...\"" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,0,\"0x13\",-3,0,3,0]",
		  "stacks row 1: samples: a count below zero" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,0,\"0x13\",03,0,3,0]",
		  "stacks row 1: samples" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,0,\"0x13\",3,0,3]", "',' expected" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,0,\"0x13\",3,0,3,0,0]", "']' expected" },
		{ "[0,0,0,\"0x13\",3,0,3,0]", "[0,0,0,\"0x13\",3,0,3,0],", "'[' expected" },
		{ "[0,0,0,\"0x9\"", "[1,0,0,\"0x9\"", "streams row 1: parent: not" },
		{ "[0,0,0,\"0x9\"", "[0,null,0,\"0x9\"", "streams row 1: process: another" },
		{ "[0,0,0,\"0x9\"", "[0,0,1,\"0x9\"", "streams row 1: refers to" },
		{ "\"0x9\",0,\"0x4\"", "\"0x9\",1,\"0x4\"", "streams row 1: refers to" },
		{ "\"0x4\",6,0,0]", "\"0x4\",6,0]", "',' expected" },
		{ "[0,0,\"0x1\",0,\"0x2\"", "[1,0,\"0x1\",0,\"0x2\"", "branches row 0: refers to" },
		{ "[0,0,\"0x1\",0,\"0x2\"", "[0,0,\"0x1\",7,\"0x2\"", "branches row 0: refers to" },
		{ "[0,0,\"0x1\",0,\"0x2\",0", "[0,0,\"0x1\",0,\"0x2\",16", "branches row 0: kind" },
		{ "[0,0,\"0x2\",\"0x3\"", "[0,7,\"0x2\",\"0x3\"", "blocks row 0: refers to" },
		{ "\"stacks\": {", "\"stacks\": {\"rows\": [], ", "rows: unknown or repeated" },
		{ "\"stacks\": {", "\"branches\": {", "branches: " },
		{ "\"stacks\": {", "\"stacks\": [", "stacks: '{' expected" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = NULL;
		struct fault fault = { 0 };
		struct profile *p = NULL;

		text = altered(cases[i].from, cases[i].to);
		assert_int_equal(profile_json_read(&p, text, strlen(text), &fault), -EINVAL);
		assert_null(p);
		if (!strstr(fault.text, cases[i].fault))
			fail_msg("%s -> %s: %s", cases[i].from, cases[i].to, fault.text);
		assert_null(strchr(fault.text, '\n'));
	}
}

static void test_truncated_text_is_refused(void **state)
{
	_cleanup_free_ char *text = altered("", ""), *cut = NULL;

	for (size_t n = 0; n < strlen(text); n++) {
		struct fault fault = { 0 };
		struct profile *p = NULL;

		/* a copy, so that a read behind its end is seen */
		cut = malloc(n ?: 1);
		memcpy(cut, text, n);
		assert_int_equal(profile_json_read(&p, cut, n, &fault), -EINVAL);
		assert_true(strlen(fault.text) > 0);
		free(TAKE_PTR(cut));
	}
}

static void test_deep_nesting_is_refused(void **state)
{
	const size_t n = 1 << 20;
	static const char *const starts[] = { "", "{\"profile\": 7, \"info\": {\"mode\": ",
					      "{\"profile\": 7, \"stacks\": {\"rows\": " };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		_cleanup_free_ char *text = malloc(n + 128);
		struct fault fault = { 0 };
		struct profile *p = NULL;
		size_t at = (size_t)sprintf(text, "%s", starts[i]);

		memset(text + at, '[', n);
		assert_int_equal(profile_json_read(&p, text, at + n, &fault), -EINVAL);
	}
}

static void test_a_file_that_is_full_is_an_error(void **state)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(1, 0);
	_cleanup_fclose_ FILE *f = fopen("/dev/full", "w");

	if (!f)
		return;
	assert_int_equal(profile_json_write(p, f), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_is_read_exactly),
		cmocka_unit_test(test_any_reader_of_json_can_read_it),
		cmocka_unit_test(test_the_largest_numbers_survive),
		cmocka_unit_test(test_strings_of_any_bytes_survive),
		cmocka_unit_test(test_order_and_spaces_do_not_matter),
		cmocka_unit_test(test_names_of_functions_survive),
		cmocka_unit_test(test_tables_in_another_order),
		cmocka_unit_test(test_version_3_is_read),
		cmocka_unit_test(test_what_is_wrong_is_named),
		cmocka_unit_test(test_truncated_text_is_refused),
		cmocka_unit_test(test_deep_nesting_is_refused),
		cmocka_unit_test(test_a_file_that_is_full_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
