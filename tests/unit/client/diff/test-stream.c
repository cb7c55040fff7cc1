/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Streams of two builds of a program, without its code, in their four sections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/diff/stream.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"
#include "tests/support/profile-fixture.h"
#include "tests/support/source-fixture.h"

enum { SAME, OTHER, N_FUNCTIONS };

#define N_PARTS 8

struct both {
	struct profile_source sources[N_SIDES];
	struct comparison *comparison;
	struct diff_streams *streams;
};

static uint64_t base_of(enum side side, int function)
{
	return (side == SIDE_NEW ? 0x5000 : 0x1000) + 0x100 * (uint64_t)function;
}

/* Of the one function the code is the same, wherever it is now; of the other not. */
static struct profile *new_profile(enum side side)
{
	struct profile *profile = fixture_new();
	uint32_t object = fixture_object(profile, "/nonexistent/demo", (uint8_t)(side + 1));

	fixture_process(profile, "demo", "/nonexistent/demo");
	for (int i = 0; i < N_FUNCTIONS; i++)
		fixture_index(profile_add_function(
			profile, &(struct profile_function){
					 .object = object,
					 .start = base_of(side, i),
					 .size = 0x100,
					 .name = i == SAME ? "same" : "other",
					 .fingerprint = i == SAME ? 7 : 8 + (uint64_t)side,
				 }));
	return profile;
}

/* A branch of 8 bytes forward at @offset in a function; @parent is the next newer one. */
static uint32_t add_to(struct profile *profile, enum side side, uint32_t parent, int function,
		       uint64_t offset, uint64_t hits)
{
	profile->counters.streams += hits;
	profile->counters.samples += hits;
	return fixture_index(profile_add_stream(
		profile, &(struct profile_stream){
				 .parent = parent,
				 .from = { 0, base_of(side, function) + offset },
				 .to = { 0, base_of(side, function) + offset + 8 },
				 .hits = hits,
			 }));
}

static uint32_t add(struct both *both, enum side side, uint32_t parent, int function,
		    uint64_t offset, uint64_t hits)
{
	return add_to(both->sources[side].profile, side, parent, function, offset, hits);
}

static int setup(void **state)
{
	struct both *both = calloc(1, sizeof(*both));
	struct symbolizer_settings settings = {};

	assert_non_null(both);
	for (int side = 0; side < N_SIDES; side++) {
		both->sources[side].profile = new_profile((enum side)side);
		assert_int_equal(symbolizer_new(&both->sources[side].symbolizer, &settings), 0);
	}
	*state = both;
	return 0;
}

static int teardown(void **state)
{
	struct both *both = *state;

	diff_streams_free(both->streams);
	comparison_free(both->comparison);
	for (int side = 0; side < N_SIDES; side++)
		source_fixture_done(&both->sources[side]);
	free(both);
	return 0;
}

static void compare_with(struct both *both, double limit,
			 const struct comparison_settings *settings)
{
	const struct profile_source *sources[N_SIDES];
	struct fault fault;

	for (int side = 0; side < N_SIDES; side++) {
		struct profile_source *source = &both->sources[side];

		source->all = source->shown = fixture_finalized(source->profile);
		sources[side] = source;
	}
	assert_int_equal(comparison_new(&both->comparison, sources, settings, &fault), 0);
	assert_int_equal(diff_streams_new(&both->streams, both->comparison, limit, &fault), 0);
}

static void compare(struct both *both, double limit)
{
	compare_with(both, limit, &(struct comparison_settings){});
}

static size_t count(const struct diff_streams *streams, enum diff_stream_section section)
{
	size_t n = 0;

	for (size_t i = 0; i < streams->n_rows; i++)
		n += streams->rows[i].section == section;
	return n;
}

static void assert_row(const struct both *both, size_t i, enum diff_stream_section section,
		       uint64_t old_hits, uint64_t new_hits)
{
	const struct diff_stream *row = &both->streams->rows[i];

	assert_true(i < both->streams->n_rows);
	assert_int_equal(row->section, section);
	assert_int_equal(row->ends[SIDE_OLD].hits, old_hits);
	assert_int_equal(row->ends[SIDE_NEW].hits, new_hits);
	assert_int_equal(row->ends[SIDE_OLD].there, old_hits > 0);
	assert_int_equal(row->ends[SIDE_NEW].there, new_hits > 0);
}

static void test_the_four_sections(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		uint32_t newest = add(both, (enum side)side, PROFILE_NONE, SAME, 0x10, 500);

		/* through a function that was changed, and to where the other side never went */
		add(both, (enum side)side, newest, OTHER, 0x20, 300 + (uint64_t)side);
		add(both, (enum side)side, newest, SAME, 0x40 + 8 * (uint64_t)side, 200);
	}
	compare(both, 0);
	assert_int_equal(both->streams->n_rows, 5);
	assert_row(both, 0, DIFF_STREAM_MATCHED, 500, 500);
	assert_row(both, 1, DIFF_STREAM_CHANGED, 300, 0);
	assert_row(both, 2, DIFF_STREAM_OLD, 200, 0);
	assert_row(both, 3, DIFF_STREAM_NEW, 0, 301);
	assert_row(both, 4, DIFF_STREAM_NEW, 0, 200);
	assert_int_equal(both->streams->rows[0].change, CHANGE_NONE);
	assert_int_equal(both->streams->rows[1].change, CHANGE_CODE);
	assert_int_equal(both->streams->rows[2].change, CHANGE_NONE);
	assert_false(both->streams->rows[0].significant);
	assert_int_equal(diff_stream_side(&both->streams->rows[1]), SIDE_OLD);
}

/* What was named is changed, though its code is the same. */
static void test_a_named_function(void **state)
{
	struct both *both = *state;
	static const char *const changed[] = { "same" };
	const struct comparison_settings settings = { .changed = changed, .n_changed = 1 };

	for (int side = 0; side < N_SIDES; side++)
		add(both, (enum side)side, PROFILE_NONE, SAME, 0x10, 500);
	compare_with(both, 0, &settings);
	assert_int_equal(both->streams->n_rows, 2);
	assert_row(both, 0, DIFF_STREAM_CHANGED, 500, 0);
	assert_row(both, 1, DIFF_STREAM_NEW, 0, 500);
	assert_int_equal(both->streams->rows[0].change, CHANGE_NAMED);
}

/* Of a path that goes on from a changed branch nothing is the same, however the rest is. */
static void test_older_branches_are_not_the_same_behind_another(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++)
		add(both, (enum side)side, add(both, (enum side)side, PROFILE_NONE, OTHER, 0x20, 0),
		    SAME, 0x10, 100);
	compare(both, 0);
	assert_int_equal(count(both->streams, DIFF_STREAM_MATCHED), 0);
	assert_int_equal(count(both->streams, DIFF_STREAM_CHANGED), 1);
	assert_int_equal(count(both->streams, DIFF_STREAM_NEW), 1);
}

static void test_significant_streams(void **state)
{
	struct both *both = *state;
	const struct diff_stream *most;

	for (int side = 0; side < N_SIDES; side++)
		for (uint64_t i = 0; i < 20; i++)
			add(both, (enum side)side, PROFILE_NONE, SAME, 8 * i,
			    1000 + (i == 7 && side == SIDE_NEW ? 600 : 0));
	compare(both, 0);
	most = diff_streams_most(both->streams);
	assert_non_null(most);
	assert_int_equal(most->ends[SIDE_NEW].hits, 1600);
	assert_true(most->share.interval.low > 0);
	assert_int_equal(both->streams->n_significant, 1);
	assert_ptr_equal(most, &both->streams->rows[0]); /* the hottest, too */
}

/* Rows below the limit are left out, unless they are significant, but counted. */
static void test_the_limit(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		add(both, (enum side)side, PROFILE_NONE, SAME, 0x10, 100000);
		add(both, (enum side)side, PROFILE_NONE, SAME, 0x20, 100);
		add(both, (enum side)side, PROFILE_NONE, SAME, 0x30, side == SIDE_NEW ? 400 : 100);
	}
	compare(both, 1);
	assert_int_equal(both->streams->n_compared, 3);
	assert_int_equal(both->streams->n_rows, 2);
	assert_row(both, 0, DIFF_STREAM_MATCHED, 100000, 100000);
	assert_row(both, 1, DIFF_STREAM_MATCHED, 100, 400);
	assert_true(both->streams->rows[1].significant);
}

/* Pruned hits may come from any longer path, so their change is not significant. */
static void test_pruned_hits_are_not_significant(void **state)
{
	struct both *both = *state;

	for (int side = 0; side < N_SIDES; side++) {
		struct profile *profile = both->sources[side].profile;
		uint32_t stream;

		add(both, (enum side)side, PROFILE_NONE, SAME, 0x10, 10000);
		stream = add(both, (enum side)side, PROFILE_NONE, SAME, 0x20,
			     side == SIDE_NEW ? 3000 : 1000);
		profile->streams[stream].pruned = side == SIDE_NEW ? 2000 : 0;
	}
	compare(both, 0);
	assert_row(both, 1, DIFF_STREAM_MATCHED, 1000, 3000);
	assert_false(both->streams->rows[1].significant);
	assert_int_equal(both->streams->rows[1].ends[SIDE_NEW].pruned, 2000);
}

/* Parts of the time: of @by_turns a path has all of its hits in every other one. */
static void add_parts(struct both *both, enum side side, const uint64_t *hits, bool by_turns)
{
	struct profile_source *source = &both->sources[side];

	source->parts = calloc(N_PARTS, sizeof(*source->parts));
	assert_non_null(source->parts);
	source->n_parts = N_PARTS;
	for (size_t i = 0; i < N_PARTS; i++) {
		struct profile *part = new_profile(side);

		add_to(part, side, PROFILE_NONE, SAME, 0x10,
		       hits[0] / N_PARTS * (by_turns ? 2 * (i % 2) : 1));
		add_to(part, side, PROFILE_NONE, SAME, 0x20, hits[1] / N_PARTS);
		source->parts[i].shown = fixture_finalized(part);
		source->parts[i].samples = part->counters.samples;
	}
}

static bool compare_in_parts(struct both *both, bool by_turns)
{
	for (int side = 0; side < N_SIDES; side++) {
		const uint64_t hits[] = { side == SIDE_NEW ? 4800 : 4000, 40000 };

		add(both, (enum side)side, PROFILE_NONE, SAME, 0x10, hits[0]);
		add(both, (enum side)side, PROFILE_NONE, SAME, 0x20, hits[1]);
		add_parts(both, (enum side)side, hits, by_turns);
	}
	compare(both, 0);
	assert_int_equal(both->streams->n_rows, 2);
	return diff_streams_most(both->streams) != NULL;
}

static void test_parts_that_are_alike_tell_a_difference(void **state)
{
	assert_true(compare_in_parts(*state, false));
}

static void test_parts_that_are_not_do_not(void **state)
{
	assert_false(compare_in_parts(*state, true));
}

static void test_nothing(void **state)
{
	struct both *both = *state;

	compare(both, 0);
	assert_int_equal(both->streams->n_rows, 0);
	assert_null(diff_streams_most(both->streams));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_four_sections, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_named_function, setup, teardown),
		cmocka_unit_test_setup_teardown(test_older_branches_are_not_the_same_behind_another,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_significant_streams, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pruned_hits_are_not_significant, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_parts_that_are_alike_tell_a_difference, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_parts_that_are_not_do_not, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
