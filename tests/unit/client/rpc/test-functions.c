/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon's counts of functions as they are read, and what is no such thing. */
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

#include "common/profile/profile-json.h"
#include "common/util/cleanup.h"
#include "tests/support/profile-fixture.h"

#define PLACES "[[0,\"0x1000\"],[0,\"0x1100\"],[0,null],[null,null]]"
#define PARTS                                                                            \
	"[{\"samples\":10,\"rows\":[[0,4,9,2,7,7,70],[1,5,5,0,0,0,0],[3,1,1,0,0,0,0]]}," \
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
	assert_int_equal(profile_write_json(profile, f), 0);
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

static const struct share *share_of(const struct functions *functions, const char *symbol,
				    uint32_t object)
{
	for (size_t i = 0; i < functions->all->n_rows; i++) {
		const struct share_key *key = &functions->all->rows[i].key;

		if (key->object == object && strcmp(key->symbol ?: "", symbol) == 0)
			return &functions->all->rows[i];
	}
	fail_msg("no '%s'", symbol);
	return NULL;
}

static void assert_share(const struct functions *functions, const char *symbol, uint32_t object,
			 const uint64_t numbers[6])
{
	const struct share *share = share_of(functions, symbol, object);
	size_t row = (size_t)(share - functions->all->rows);

	assert_int_equal(share->self, numbers[0]);
	assert_int_equal(share->total, numbers[1]);
	for (size_t i = 0; i < functions->n_parts; i++) {
		assert_int_equal(functions->parts[i].counts[row].self, numbers[2 + 2 * i]);
		assert_int_equal(functions->parts[i].counts[row].total, numbers[3 + 2 * i]);
	}
}

static void counts_add_up(void **state)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_free_ char *profile = make_profile_text();
	const struct call_cost *work;
	struct fault fault = {};

	assert_int_equal(try_texts(&functions, profile, PLACES, PARTS, &fault), 0);
	assert_int_equal(functions->n_parts, 2);
	assert_int_equal(functions->parts[0].samples, 10);
	assert_int_equal(functions->parts[1].samples, 20);
	assert_int_equal(functions->all->n_rows, 4);
	assert_share(functions, "first", 0, (const uint64_t[]){ 10, 15, 4, 9, 6, 6 });
	assert_share(functions, "second", 0, (const uint64_t[]){ 5, 5, 5, 5, 0, 0 });
	assert_share(functions, "", 0, (const uint64_t[]){ 14, 14, 0, 0, 14, 14 });
	assert_share(functions, "", PROFILE_NONE, (const uint64_t[]){ 1, 1, 1, 1, 0, 0 });
	work = &functions->works[0];
	assert_string_equal(functions->profile->functions[0].name, "first");
	assert_int_equal(work->calls, 3);
	assert_int_equal(work->runs, 10);
	assert_int_equal(work->timed_runs, 9);
	assert_int_equal(work->cycles, 90);
}

static void nothing_is_no_fault(void **state)
{
	_cleanup_(functions_freep) struct functions *functions = NULL;
	_cleanup_free_ char *profile = make_profile_text();
	struct fault fault = {};

	assert_int_equal(try_texts(&functions, profile, "[]", "[]", &fault), 0);
	assert_int_equal(functions->n_parts, 0);
	assert_int_equal(functions->all->n_rows, 0);
}

/* Each is refused, and said to be wrong. */
static void what_it_is_not(void **state)
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
		{ PLACES, "[{\"rows\":[[4,1,1,0,0,0,0]]}]" },   /* no such place */
		{ PLACES, "[{\"rows\":[[0,1,1,0,0,0]]}]" },     /* too few numbers */
		{ PLACES, "[{\"rows\":[[0,1,1,0,0,0,0,0]]}]" }, /* too many */
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

static void a_profile_that_is_none(void **state)
{
	struct functions *functions = NULL;
	struct fault fault = {};

	assert_int_equal(try_texts(&functions, "{}", PLACES, PARTS, &fault), -EINVAL);
	assert_true(fault.text[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_add_up),
		cmocka_unit_test(nothing_is_no_fault),
		cmocka_unit_test(what_it_is_not),
		cmocka_unit_test(a_profile_that_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
