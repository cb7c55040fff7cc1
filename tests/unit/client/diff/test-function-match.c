/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which function of a name is which: given by fingerprints and sizes, in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/function-match.h"

#include <string.h>

#define MAX_FUNCTIONS 8
#define NONE          '-'

struct both {
	struct profile_function functions[N_SIDES][MAX_FUNCTIONS];
	struct function_matches matches;
};

/* A letter is a function with its fingerprint, a digit one without and of that size; letters are of
 * size 1. */
static void add(struct both *both, enum side side, const char *letters)
{
	for (size_t i = 0; letters[i]; i++) {
		bool is_letter = letters[i] >= 'a';

		assert_true(i < MAX_FUNCTIONS);
		both->functions[side][i] = (struct profile_function){
			.fingerprint = is_letter ? (uint64_t)letters[i] : 0,
			.size = is_letter ? 1 : (uint64_t)(letters[i] - '0'),
		};
		assert_int_equal(
			function_matches_add(&both->matches, side, &both->functions[side][i]), 0);
	}
}

/* Of each function of a side the number of its match, of a changed one as a letter from A on.
 */
static void check(const struct both *both, enum side side, const char *expected)
{
	const struct profile_function *others = both->functions[side == SIDE_OLD];

	assert_int_equal(both->matches.n[side], strlen(expected));
	for (size_t i = 0; i < both->matches.n[side]; i++) {
		const struct function_match *row =
			function_matches_find(&both->matches, side, &both->functions[side][i]);
		char seen = row->other ?
				    (char)((row->changed ? 'A' : '0') + (row->other - others)) :
				    NONE;

		assert_int_equal(seen, expected[i]);
	}
}

static void match(const char *old_ones, const char *new_ones, const char *expected_old,
		  const char *expected_new, bool changed)
{
	struct both both = {};

	add(&both, SIDE_OLD, old_ones);
	add(&both, SIDE_NEW, new_ones);
	function_matches_match(&both.matches);
	check(&both, SIDE_OLD, expected_old);
	check(&both, SIDE_NEW, expected_new);
	assert_true(function_matches_changed(&both.matches) == changed);
	function_matches_done(&both.matches);
}

static void test_by_fingerprint(void **state)
{
	(void)state;
	match("a", "a", "0", "0", false);
	match("ab", "ba", "10", "10", false);
	match("a", "", "-", "", false);
	match("a", "ba", "1", "-0", false);
	match("ab", "ac", "0B", "0B", true);
	match("abc", "xc", "A-1", "A2", true);
}

static void test_those_of_one_fingerprint_are_one(void **state)
{
	(void)state;
	match("aa", "aa", "00", "00", false);
	match("aab", "a", "00-", "0", false);
	match("aa", "bb", "AA", "AA", true);
	match("aa", "bc", "AA", "A-", true);
}

static void test_by_size_where_one_has_no_fingerprint(void **state)
{
	(void)state;
	match("11", "11", "01", "01", false);
	match("12", "21", "10", "10", false);
	match("a", "1", "0", "0", false);
	match("a2", "13", "0B", "0B", true);
	match("b1", "1b", "10", "10", false);
}

/* Whether the function was changed: one side has both builds. */
static void test_two_builds_on_one_side(void **state)
{
	static const struct {
		const char *before, *after;
		uint32_t objects[2]; /* of the newer side's functions */
		bool changed;
	} cases[] = {
		{ "a", "ab", { 0, 1 }, true },  { "a", "ba", { 1, 0 }, true },
		{ "a", "ab", { 0, 0 }, false }, { "a", "aa", { 0, 1 }, false },
		{ "1", "11", { 0, 1 }, false }, { "1", "12", { 0, 1 }, true },
		{ "", "ab", { 0, 1 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (int newer = 0; newer < N_SIDES; newer++) {
			struct both both = {};

			add(&both, newer, cases[i].after);
			add(&both, !newer, cases[i].before);
			for (size_t k = 0; k < 2; k++)
				both.functions[newer][k].object = cases[i].objects[k];
			function_matches_match(&both.matches);
			if (function_matches_changed(&both.matches) != cases[i].changed)
				fail_msg("%s and %s", cases[i].before, cases[i].after);
			function_matches_done(&both.matches);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_fingerprint),
		cmocka_unit_test(test_those_of_one_fingerprint_are_one),
		cmocka_unit_test(test_by_size_where_one_has_no_fingerprint),
		cmocka_unit_test(test_two_builds_on_one_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
