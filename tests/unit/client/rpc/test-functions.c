/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading the daemon's counts of functions, valid and invalid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/rpc/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/profile-json.h"
#include "common/util/cleanup.h"
#include "tests/support/profile-fixture.h"

#define PLACES "[[0,\"0x1000\"],[0,\"0x1100\"],[0,null],[null,null]]"
#define PARTS                                                                               \
	"[{\"samples\":10,\"rows\":[[0,4,9,2,7,7,70],[1,5,5,0,0,0,0,25],[3,1,1,0,0,0,0]]}," \
	"{\"samples\":20,\"rows\":[[0,6,6,1,3,2,20],[2,14,14,0,0,0,0]]}]"

/* Two functions of one object. */
static char *make_profile_text(void)
{
	struct profile *profile = fixture_new();
	uint32_t object = fixture_object(profile, "/bin/demo", 1);
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	fixture_function(profile, object, 0x1000, "first");
	fixture_function(profile, object, 0x1100, "second");
	fixture_stack(profile, PROFILE_NONE, PROFILE_NONE, object, 0x1000, 10);
	fixture_stack(profile, PROFILE_NONE, PROFILE_NONE, object, 0x1100, 5);
	fixture_finalized(profile);
	assert_int_equal(profile_json_write(profile, f), 0);
	assert_int_equal(fclose(f), 0);
	profile_free(profile);
	return text;
}

/* The texts are read to their ends, not to a NUL. */
static int try_texts(struct functions **ret, const char *profile, const char *places,
		     const char *parts, struct fault *fault)
{
	const struct functions_texts texts = {
		.profile = profile,
		.n_profile = strlen(profile),
		.places = places,
		.n_places = strlen(places),
		.parts = parts,
		.n_parts = strlen(parts),
	};

	return functions_read(ret, &texts, fault);
}

static void assert_row(const struct functions_row *row, const uint64_t numbers[8])
{
	assert_int_equal(row->place, numbers[0]);
	assert_int_equal(row->self, numbers[1]);
	assert_int_equal(row->total, numbers[2]);
	assert_int_equal(row->calls, numbers[3]);
	assert_int_equal(row->runs, numbers[4]);
	assert_int_equal(row->timed_runs, numbers[5]);
	assert_int_equal(row->cycles, numbers[6]);
	assert_int_equal(row->variance, numbers[7]);
}

static void rows_are_those_of_the_reply(void **state)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_free_ char *profile = make_profile_text();
	struct fault fault = {};

	assert_int_equal(try_texts(&functions, profile, PLACES, PARTS, &fault), 0);
	assert_int_equal(functions->n_places, 4);
	assert_int_equal(functions->places[0].object, 0);
	assert_string_equal(functions->profile->functions[functions->places[0].function].name,
			    "first");
	assert_string_equal(functions->profile->functions[functions->places[1].function].name,
			    "second");
	assert_int_equal(functions->places[2].object, 0);
	assert_int_equal(functions->places[2].function, PROFILE_NONE);
	assert_int_equal(functions->places[3].object, PROFILE_NONE);
	assert_int_equal(functions->n_parts, 2);
	assert_int_equal(functions->parts[0].samples, 10);
	assert_int_equal(functions->parts[0].n_rows, 3);
	assert_row(&functions->parts[0].rows[0], (const uint64_t[]){ 0, 4, 9, 2, 7, 7, 70, 0 });
	assert_row(&functions->parts[0].rows[1], (const uint64_t[]){ 1, 5, 5, 0, 0, 0, 0, 25 });
	assert_row(&functions->parts[0].rows[2], (const uint64_t[]){ 3, 1, 1, 0, 0, 0, 0, 0 });
	assert_int_equal(functions->parts[1].samples, 20);
	assert_int_equal(functions->parts[1].n_rows, 2);
	assert_row(&functions->parts[1].rows[1], (const uint64_t[]){ 2, 14, 14, 0, 0, 0, 0, 0 });
}

static void no_rows_are_no_fault(void **state)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_free_ char *profile = make_profile_text();
	struct fault fault = {};

	assert_int_equal(try_texts(&functions, profile, "[]", "[]", &fault), 0);
	assert_int_equal(functions->n_parts, 0);
	assert_int_equal(functions->n_places, 0);
}

static void invalid_texts_are_refused(void **state)
{
	static const char *const texts[][2] = {
		{ "", PARTS },
		{ "[[0,\"0x1000\"]", "[]" },
		{ "[[1,\"0x1000\"]]", "[]" }, /* no such object */
		{ "[[-1,\"0x1000\"]]", "[]" },
		{ "[[0,4096]]", "[]" },
		{ "[[0]]", "[]" },
		{ "[[0,null,1]]", "[]" },
		{ "[] []", "[]" },
		{ PLACES, "" },
		{ PLACES, "{}" },
		{ PLACES, "[{\"rows\":[[4,1,1,0,0,0,0]]}]" },     /* no such place */
		{ PLACES, "[{\"rows\":[[0,1,1,0,0,0]]}]" },       /* too few numbers */
		{ PLACES, "[{\"rows\":[[0,1,1,0,0,0,0,0,0]]}]" }, /* too many */
		{ PLACES, "[{\"rows\":[[0,-1,1,0,0,0,0]]}]" },
		{ PLACES, "[{\"rows\":[0,1]}]" },
		{ PLACES, "[{\"sampled\":1}]" },
		{ PLACES, "[{\"samples\":1,\"rows\":[]}" },
		{ PLACES, "[{\"samples\":1,\"rows\":[]}]x" },
	};
	_cleanup_free_ char *profile = make_profile_text();
	struct functions *functions = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct fault fault = {};

		if (try_texts(&functions, profile, texts[i][0], texts[i][1], &fault) != -EINVAL)
			fail_msg("%s and %s are taken", texts[i][0], texts[i][1]);
		assert_true(fault.text[0] != '\0');
		assert_null(functions);
	}
}

static void an_invalid_profile(void **state)
{
	struct functions *functions = NULL;
	struct fault fault = {};

	assert_int_equal(try_texts(&functions, "{}", PLACES, PARTS, &fault), -EINVAL);
	assert_true(fault.text[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_of_the_reply),
		cmocka_unit_test(no_rows_are_no_fault),
		cmocka_unit_test(invalid_texts_are_refused),
		cmocka_unit_test(an_invalid_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
