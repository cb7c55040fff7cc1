/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which piece of code is meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/view/code-span.h"
#include "common/util/cleanup.h"
#include "tests/support/profile-fixture.h"

#include <stdio.h>
#include <string.h>

struct fixture {
	struct profile_source *source;
	struct code_span span;
	struct fault fault;
};

static void add_run(struct profile *p, uint32_t object, uint64_t start, uint64_t end)
{
	struct profile_block block = { .object = object, .start = start, .end = end, .runs = 5 };

	assert_true(profile_add_block(p, &block) >= 0);
}

/* Functions of 256 bytes at 0x100, 0x200 ... of two files, and runs without function from 0x1000
 * on. */
static struct profile *make_profile(void)
{
	static const char *const names[] = { "main",   "ns::run(int)", "ns::run(int) [clone .cold]",
					     "twice",  "ns::run",      "f(int)",
					     "f(long)" };
	struct profile *p = fixture_new();
	uint32_t a = fixture_object(p, "/bin/a", 1), b = fixture_object(p, "/lib/b.so", 2);
	uint32_t process = fixture_process(p, "a", "/bin/a");

	for (uint64_t i = 0; i < 7; i++) {
		uint32_t object = i == 4 ? b : a;

		fixture_function(p, object, 0x100 * (i + 1), names[i]);
		fixture_stack(p, process, PROFILE_NONE, object, 0x100 * (i + 1), 1);
	}
	fixture_function(p, b, 0x800, "twice");
	fixture_stack(p, process, PROFILE_NONE, b, 0x800, 1);
	add_run(p, a, 0x1000, 0x1010);
	add_run(p, a, 0x1013, 0x1020);
	add_run(p, a, 0x1080, 0x1090);
	return fixture_finalized(p);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct symbolizer_settings symbols = {};
	const struct profile_filter filter = PROFILE_FILTER_INIT;

	assert_int_equal(profile_source_new(&f->source, &symbols), 0);
	f->source->name = strdup("it");
	f->source->profile = make_profile();
	assert_int_equal(profile_source_filter(f->source, &filter), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	code_span_done(&f->span);
	profile_source_free(f->source);
	free(f);
	return 0;
}

static const struct profile_source_settings settings = {};

static void expect(struct fixture *f, const char *wanted, const char *object, const char *path,
		   uint64_t start)
{
	code_span_done(&f->span);
	assert_int_equal(code_span_find(&f->span, f->source, &settings, wanted, object, &f->fault),
			 0);
	assert_string_equal(f->source->all->objects[f->span.object].path, path);
	assert_int_equal(f->span.start, start);
}

static void refuse(struct fixture *f, const char *wanted, const char *object, const char *said)
{
	assert_true(code_span_find(&f->span, f->source, &settings, wanted, object, &f->fault) < 0);
	if (!strstr(f->fault.text, said))
		fail_msg("%s", f->fault.text);
}

static void test_by_name(void **state)
{
	struct fixture *f = *state;

	expect(f, "main", NULL, "/bin/a", 0x100);
	assert_string_equal(f->span.name, "main");
	assert_int_equal(f->span.size, 0x100);
	assert_int_equal(f->span.n_ranges, 0);
	refuse(f, "mai", NULL, "no counts for a function 'mai'");
	refuse(f, "main", "b.so", "of b.so");
}

static void test_the_very_name_comes_first_and_clones_last(void **state)
{
	struct fixture *f = *state;

	expect(f, "ns::run", NULL, "/lib/b.so", 0x500);
	expect(f, "ns::run", "a", "/bin/a", 0x200);
	expect(f, "ns::run(int) [clone .cold]", NULL, "/bin/a", 0x300);
}

static void test_of_several_one_has_to_be_named(void **state)
{
	struct fixture *f = *state;

	refuse(f, "twice", NULL, "2 functions match 'twice'");
	refuse(f, "twice", NULL, "a:0x400, b.so:0x800");
	expect(f, "twice", "b.so", "/lib/b.so", 0x800);
	expect(f, "twice", "b*", "/lib/b.so", 0x800);
	expect(f, "twice", "/bin/?", "/bin/a", 0x400);
	refuse(f, "twice", "c*", "of c*");
	refuse(f, "twice", "*", "2 functions match 'twice'");
	expect(f, "a:0x400", NULL, "/bin/a", 0x400);
	refuse(f, "f", NULL, "a:0x600, a:0x700");
	expect(f, "f(long)", NULL, "/bin/a", 0x700);
}

/* Of one name, and of one path, too. */
static void test_objects_of_one_name(void **state)
{
	static const char *const paths[] = { "/old/a", "/old/a", "/bin/only" };
	static const char id[] = "0300000000000000000000000000000000000000";
	struct fixture *f = *state;
	struct profile *p = fixture_new();
	uint32_t process = fixture_process(p, "a", "/bin/a");
	char wanted[64];

	for (uint8_t i = 0; i < 3; i++) {
		uint32_t object = fixture_object(p, paths[i], (uint8_t)(i + 3));

		fixture_function(p, object, 0x100, "main");
		fixture_stack(p, process, PROFILE_NONE, object, 0x100, 1);
	}
	fixture_function(p, fixture_object(p, "/bin/a", 1), 0x100, "main");
	fixture_stack(p, process, PROFILE_NONE, fixture_object(p, "/bin/a", 1), 0x100, 1);
	profile_free(f->source->profile);
	f->source->profile = fixture_finalized(p);
	f->source->all = f->source->shown = p;
	refuse(f, "main", NULL, "4 functions match 'main'; give --object, or one of");
	refuse(f, "main", NULL, " /bin/a:0x100");
	refuse(f, "main", NULL, " only:0x100");
	refuse(f, "main", NULL, " 0300000000000000000000000000000000000000:0x100");
	refuse(f, "a:0x100", NULL, "3 objects match 'a'; give one of");
	refuse(f, "/old/a:0x100", NULL, "2 objects match '/old/a'");
	expect(f, "main", "/bin/a", "/bin/a", 0x100);
	expect(f, "/bin/a:0x100", NULL, "/bin/a", 0x100);
	expect(f, "main", id, "/old/a", 0x100);
	assert_int_equal(f->source->all->objects[f->span.object].build_id[0], 3);
	snprintf(wanted, sizeof(wanted), "%s:0x100", id);
	expect(f, wanted, NULL, "/old/a", 0x100);
	assert_int_equal(f->source->all->objects[f->span.object].build_id[0], 3);
}

static void expect_build(struct fixture *f, uint8_t build_id, const char *said)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	assert_non_null(to);
	code_span_say_builds(&f->span, to);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(f->source->all->objects[f->span.object].build_id[0], build_id);
	if (!strstr(text, said))
		fail_msg("%s", text);
}

/* The newest one is that of the process that started last. */
static void test_of_several_builds_the_newest_is_taken(void **state)
{
	struct fixture *f = *state;
	struct profile *p = fixture_new();

	for (uint8_t i = 0; i < 3; i++) {
		uint32_t object = fixture_object(p, "/bin/a", (uint8_t)(i + 3));
		uint32_t process = fixture_process(p, "a", "/bin/a");

		fixture_function(p, object, 0x100, "main");
		fixture_stack(p, process, PROFILE_NONE, object, 0x100, 10 - i);
		p->processes[process].start_ns = i == 1 ? 50 : 0;
	}
	profile_free(f->source->profile);
	f->source->profile = fixture_finalized(p);
	f->source->all = f->source->shown = p;
	expect(f, "main", NULL, "/bin/a", 0x100);
	expect_build(f, 4,
		     "branchctl: main is in 3 builds of a: this is 04000000 (9 samples), the "
		     "newest; --object ID shows 03000000 (10 samples), 05000000 (8 samples)\n");
	expect(f, "main", "05000000", "/bin/a", 0x100);
	expect_build(f, 5,
		     "this is 05000000 (8 samples); --object ID shows 04000000 (9 samples), the "
		     "newest, 03000000 (10 samples)\n");
	for (size_t i = 0; i < p->n_processes; i++)
		p->processes[i].start_ns = 0;
	expect(f, "main", NULL, "/bin/a", 0x100);
	expect_build(f, 3, "this is 03000000 (10 samples); which is newer is not known; --object");
}

static void test_by_address(void **state)
{
	struct fixture *f = *state;

	expect(f, "b.so:0x5ff", NULL, "/lib/b.so", 0x500);
	expect(f, "/lib/b.so:0x500", NULL, "/lib/b.so", 0x500);
	refuse(f, "b.so:0x10", NULL, "no counts at 0x10 of an object 'b.so'");
	refuse(f, "c.so:0x10", NULL, "no counts at 0x10 of an object 'c.so'");
	refuse(f, "b.so:0xno", NULL, "is not an address");
	refuse(f, "b.so:0x", NULL, "is not an address");
	refuse(f, "b.so:0x11111111111111111", NULL, "is not an address");
}

static void test_code_without_functions(void **state)
{
	struct fixture *f = *state;

	expect(f, "a:0x1018", NULL, "/bin/a", 0x1000);
	assert_null(f->span.name);
	assert_int_equal(f->span.n_ranges, 2);
	assert_true(f->span.size > 0x20 && f->span.size < 0x80);
	expect(f, "a:0x1080", NULL, "/bin/a", 0x1080);
	assert_int_equal(f->span.n_ranges, 1);
	refuse(f, "a:0x1011", NULL, "no counts at");
	refuse(f, "a:0x1091", NULL, "no counts at");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_by_name),
		TEST(test_the_very_name_comes_first_and_clones_last),
		TEST(test_of_several_one_has_to_be_named),
		TEST(test_objects_of_one_name),
		TEST(test_of_several_builds_the_newest_is_taken),
		TEST(test_by_address),
		TEST(test_code_without_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
