/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiles: merging, comparing, functions of locations. */
#include "tests/support/profile-fixture.h"

#include <string.h>

#include "common/profile/profile.h"
#include "common/util/cleanup.h"
#include "tests/support/random-profile.h"

#define N_SEEDS 200

static struct profile *merged(const struct profile *a, const struct profile *b)
{
	const struct profile *both[] = { a, b };
	struct profile *sum = NULL;

	assert_int_equal(profile_merge(&sum, both, 2), 0);
	return sum;
}

static void add_function(struct profile *p, uint32_t object, uint64_t start, uint64_t size,
			 const char *name)
{
	profile_add_function(
		p, &(struct profile_function){
			   .object = object, .start = start, .size = size, .name = name });
}

static void test_merging_is_associative_and_commutative(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *a = random_profile(seed, 0);
		_cleanup_(profile_freep) struct profile *b = random_profile(seed + 1, 0);
		_cleanup_(profile_freep) struct profile *c = random_profile(seed + 2, 0);
		_cleanup_(profile_freep) struct profile *ab = merged(a, b), *bc = merged(b, c);
		_cleanup_(profile_freep) struct profile *ab_c = merged(ab, c);
		_cleanup_(profile_freep) struct profile *a_bc = merged(a, bc);
		_cleanup_(profile_freep) struct profile *cb_a = merged(bc, a);
		const struct profile *all[] = { b, c, a };
		_cleanup_(profile_freep) struct profile *at_once = NULL;

		assert_int_equal(profile_merge(&at_once, all, 3), 0);
		assert_true(profile_equal(ab_c, a_bc));
		assert_true(profile_equal(ab_c, cb_a));
		assert_true(profile_equal(ab_c, at_once));
	}
}

static void test_merging_one_copies_it_and_none_is_empty(void **state)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(1, 0), *copy = NULL,
						*none = NULL;
	const struct profile *one[] = { p };

	assert_int_equal(profile_merge(&copy, one, 1), 0);
	assert_true(profile_equal(p, copy));
	assert_int_equal(profile_merge(&none, NULL, 0), 0);
	assert_int_equal(none->n_objects + none->n_processes + none->n_stacks, 0);
	assert_false(profile_equal(p, none));
}

static void test_merging_adds_counters_and_spans_both_times(void **state)
{
	_cleanup_(profile_freep) struct profile *a = fixture_new(), *b = fixture_new(), *sum = NULL;
	int r = 0;

	a->counters.samples = 3;
	b->counters.samples = 4;
	b->counters.throttled = 1;
	a->info = (struct profile_info){ .mode = profile_string(a, "recording", &r),
					 .event = profile_string(a, "cycles", &r),
					 .n_cpus = 4,
					 .end_ns = 10 };
	b->info = (struct profile_info){ .mode = profile_string(b, "branches", &r),
					 .event = profile_string(b, "cycles", &r),
					 .n_cpus = 8,
					 .start_ns = 5,
					 .end_ns = 7 };
	assert_int_equal(profile_finalize(a) | profile_finalize(b) | r, 0);
	sum = merged(a, b);
	assert_int_equal(sum->counters.samples, 7);
	assert_int_equal(sum->counters.throttled, 1);
	assert_string_equal(sum->info.mode, "mixed");
	assert_string_equal(sum->info.event, "cycles");
	assert_int_equal(sum->info.n_cpus, 0);
	assert_int_equal(sum->info.start_ns, 5);
	assert_int_equal(sum->info.end_ns, 10);
}

static const char *name_at(const struct profile *p, uint32_t object, uint64_t offset)
{
	const struct profile_function *f =
		profile_find_function(p, (struct location){ object, offset });

	return f ? f->name : "";
}

static void test_functions_are_found_and_unused_ones_dropped(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	uint32_t a = fixture_object(p, "/a", 0), b = fixture_object(p, "/b", 0),
		 c = fixture_object(p, "/c", 0);

	add_function(p, a, 10, 10, "f");
	add_function(p, a, 20, 10, "unused");
	add_function(p, a, 30, 0, "empty");
	add_function(p, a, UINT64_MAX - 3, 100, "last");
	add_function(p, b, 0, 10, "g");
	add_function(p, c, 0, 10, "of an object that is not used");
	add_function(p, PROFILE_NONE, 5, 1, "of no object");
	fixture_stack(p, PROFILE_NONE, PROFILE_NONE, a, 10, 1);
	fixture_stack(p, PROFILE_NONE, PROFILE_NONE, a, 19, 1);
	fixture_stack(p, PROFILE_NONE, PROFILE_NONE, a, 30, 1);
	fixture_stack(p, PROFILE_NONE, PROFILE_NONE, a, UINT64_MAX, 1);
	fixture_stack(p, PROFILE_NONE, PROFILE_NONE, b, 9, 1);
	fixture_stack(p, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, 5, 1);
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(p->n_functions, 4);
	assert_string_equal(name_at(p, 0, 9), "");
	assert_string_equal(name_at(p, 0, 10), "f");
	assert_string_equal(name_at(p, 0, 19), "f");
	assert_string_equal(name_at(p, 0, 20), "");
	assert_string_equal(name_at(p, 0, UINT64_MAX), "last");
	assert_string_equal(name_at(p, 1, 0), "g");
	assert_string_equal(name_at(p, 1, 10), "");
	assert_string_equal(name_at(p, PROFILE_NONE, 5), "of no object");
	assert_string_equal(name_at(p, PROFILE_NONE, 6), "");
}

static uint64_t place_of(const struct profile *p, uint64_t offset)
{
	return profile_place_frame(p, (struct location){ 0, offset }).offset;
}

static void test_a_frame_right_before_a_function_lies_in_it(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	uint32_t a = fixture_object(p, "/a", 0);
	uint32_t caller;

	add_function(p, a, 10, 10, "trampoline");
	add_function(p, a, 30, 10, "calls at its end");
	add_function(p, a, 40, 10, "comes after it");
	add_function(p, a, 60, 50, "outer");
	add_function(p, a, 70, 5, "inner");
	add_function(p, a, 120, 10, "after a branch");
	caller = fixture_stack(p, PROFILE_NONE, PROFILE_NONE, a, 9, 0);
	caller = fixture_stack(p, PROFILE_NONE, caller, a, 39, 0);
	caller = fixture_stack(p, PROFILE_NONE, caller, a, 69, 0);
	fixture_stack(p, PROFILE_NONE, caller, a, 200, 1);
	profile_add_branch(p, &(struct profile_branch){
				      .process = PROFILE_NONE,
				      .from = { a, 119 },
				      .to = { a, 200 },
				      .taken = 1,
			      });
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(p->n_functions, 3);
	assert_string_equal(name_at(p, 0, 10), "trampoline");
	assert_string_equal(name_at(p, 0, 39), "calls at its end");
	assert_string_equal(name_at(p, 0, 69), "outer");
	assert_int_equal(place_of(p, 9), 10);
	assert_int_equal(place_of(p, 39), 39);
	assert_int_equal(place_of(p, 69), 69);
	assert_int_equal(place_of(p, 8), 8);
}

static void test_of_functions_that_overlap_the_innermost_is_found(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	uint32_t a = fixture_object(p, "/a", 0);

	add_function(p, a, 0, 100, "outer");
	add_function(p, a, 10, 20, "inner");
	add_function(p, a, 12, 3, "innermost");
	add_function(p, a, 40, 10, "second");
	add_function(p, a, 40, 20, "alias, which comes first"); /* in the alphabet */
	for (uint64_t offset = 0; offset < 100; offset++)
		fixture_stack(p, PROFILE_NONE, PROFILE_NONE, a, offset, 1);
	assert_int_equal(profile_finalize(p), 0);

	assert_string_equal(name_at(p, 0, 5), "outer");
	assert_string_equal(name_at(p, 0, 10), "inner");
	assert_string_equal(name_at(p, 0, 14), "innermost");
	assert_string_equal(name_at(p, 0, 15), "inner");
	assert_string_equal(name_at(p, 0, 35), "outer");
	assert_string_equal(name_at(p, 0, 55), "alias, which comes first");
	assert_string_equal(name_at(p, 0, 99), "outer");
	assert_string_equal(name_at(p, 0, 100), "");
}

/* profile_find_function() against a linear search. */
static void test_find_agrees_with_a_plain_search(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);

		for (uint32_t object = 0; object < p->n_objects; object++) {
			for (uint64_t offset = 0; offset < 80; offset++) {
				const struct profile_function *want = NULL;

				for (size_t i = 0; i < p->n_functions; i++) {
					const struct profile_function *f = &p->functions[i];

					if (f->object == object && offset >= f->start &&
					    offset - f->start < f->size)
						want = f;
				}
				assert_ptr_equal(want,
						 profile_find_function(
							 p, (struct location){ object, offset }));
			}
		}
	}
}

static void test_raw_addresses(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	const uint64_t base = 0xffffffff81000000;

	for (int kind = 0; kind < N_OBJECT_KINDS; kind++) {
		struct profile_object object = { .kind = (enum object_kind)kind, .path = "x" };

		object.base = kind == OBJECT_KERNEL || kind == OBJECT_MODULE ? base : 0;
		fixture_stack(p, PROFILE_NONE, PROFILE_NONE,
			      (uint32_t)profile_add_object(p, &object), 0, 1);
	}
	assert_int_equal(profile_finalize(p), 0);
	for (uint32_t i = 0; i < p->n_objects; i++) {
		uint64_t address = profile_raw_address(p, (struct location){ i, 5 });

		assert_int_equal(address, p->objects[i].base + 5);
	}
	assert_int_equal(profile_raw_address(p, (struct location){ PROFILE_NONE, 5 }), 5);
	assert_int_equal(profile_raw_address(p, (struct location){ OBJECT_KERNEL, -5ULL }),
			 base - 5);
}

static void test_empty_profiles_are_equal(void **state)
{
	_cleanup_(profile_freep) struct profile *a = fixture_new(), *b = fixture_new();

	assert_int_equal(profile_finalize(a) | profile_finalize(b), 0);
	assert_true(profile_equal(a, b));
	assert_null(profile_find_function(a, (struct location){ PROFILE_NONE, 0 }));
	b->counters.rows = 1;
	assert_false(profile_equal(a, b));
	assert_null(profile_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merging_is_associative_and_commutative),
		cmocka_unit_test(test_merging_one_copies_it_and_none_is_empty),
		cmocka_unit_test(test_merging_adds_counters_and_spans_both_times),
		cmocka_unit_test(test_functions_are_found_and_unused_ones_dropped),
		cmocka_unit_test(test_a_frame_right_before_a_function_lies_in_it),
		cmocka_unit_test(test_of_functions_that_overlap_the_innermost_is_found),
		cmocka_unit_test(test_find_agrees_with_a_plain_search),
		cmocka_unit_test(test_raw_addresses),
		cmocka_unit_test(test_empty_profiles_are_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
