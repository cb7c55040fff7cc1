/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finalizing profiles: keys, orders, sums. */
#include "tests/support/profile-fixture.h"

#include <string.h>

#include "common/profile/drop-empty.h"
#include "common/profile/profile.h"
#include "common/profile/tables.h"
#include "common/profile/unite.h"
#include "common/util/cleanup.h"
#include "tests/support/random-profile.h"

#define N_SEEDS 200

static uint32_t add_process(struct profile *p, int32_t pid, const char *unit, uint32_t uid)
{
	return (uint32_t)profile_add_process(
		p, &(struct profile_process){
			   .pid = pid, .comm = "c", .unit = unit, .uid = uid, .samples = 1 });
}

static void test_the_order_of_adding_does_not_matter(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *a = random_profile(seed, 0);
		_cleanup_(profile_freep) struct profile *b = random_profile(seed, seed + 1);
		_cleanup_(profile_freep) struct profile *other = random_profile(seed + 1, 0);

		assert_true(profile_equal(a, b));
		assert_false(profile_equal(a, other));
	}
}

/* Finalizing must not change the sums of the counts. */
static void test_finalizing_keeps_the_sums(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		_cleanup_free_ struct random_rows *rows = random_rows_new(seed);
		uint64_t stacks = 0, weight = 0, taken = 0, cycles = 0, runs = 0, samples = 0;
		uint64_t hits = 0, pruned = 0, stream_cycles = 0;

		for (size_t i = 0; i < N_RANDOM_STACKS; i++) {
			stacks += rows->stacks[i].samples;
			weight += rows->stacks[i].weight;
			pruned += rows->stacks[i].pruned + rows->streams[i].pruned;
			hits += rows->streams[i].hits;
			stream_cycles += rows->streams[i].cycles;
		}
		for (size_t i = 0; i < N_RANDOM_ROWS; i++) {
			taken += rows->branches[i].taken;
			cycles += rows->branches[i].cycles;
			runs += rows->blocks[i].runs;
		}
		for (size_t i = 0; i < N_RANDOM_PROCESSES; i++)
			samples += rows->processes[i].samples;
		for (size_t i = 0; i < p->n_stacks; i++) {
			stacks -= p->stacks[i].samples;
			weight -= p->stacks[i].weight;
			pruned -= p->stacks[i].pruned;
		}
		for (size_t i = 0; i < p->n_streams; i++) {
			pruned -= p->streams[i].pruned;
			hits -= p->streams[i].hits;
			stream_cycles -= p->streams[i].cycles;
		}
		for (size_t i = 0; i < p->n_branches; i++) {
			taken -= p->branches[i].taken;
			cycles -= p->branches[i].cycles;
		}
		for (size_t i = 0; i < p->n_blocks; i++)
			runs -= p->blocks[i].runs;
		for (size_t i = 0; i < p->n_processes; i++)
			samples -= p->processes[i].samples;
		assert_int_equal(stacks | weight | taken | cycles | runs | samples, 0);
		assert_int_equal(hits | pruned | stream_cycles, 0);
	}
}

static int compare_number(uint64_t a, uint64_t b)
{
	return a == b ? 0 : a < b ? -1 : 1;
}

static int compare_places(struct location a, struct location b)
{
	return compare_number(a.object, b.object) ?: compare_number(a.offset, b.offset);
}

static int compare_stacks(const struct profile_stack *a, const struct profile_stack *b)
{
	/* roots come first: PROFILE_NONE + 1 is 0 */
	return compare_number((uint32_t)(a->parent + 1), (uint32_t)(b->parent + 1)) ?:
		       compare_number(a->process, b->process)                       ?:
		       compare_places(a->frame, b->frame);
}

static int compare_streams(const struct profile_stream *a, const struct profile_stream *b)
{
	return compare_number((uint32_t)(a->parent + 1), (uint32_t)(b->parent + 1)) ?:
		       compare_number(a->process, b->process)                       ?:
		       compare_places(a->from, b->from)                             ?:
		       compare_places(a->to, b->to);
}

static int compare_branches(const struct profile_branch *a, const struct profile_branch *b)
{
	return compare_number(a->process, b->process)   ?:
		       compare_places(a->from, b->from) ?:
							  compare_places(a->to, b->to);
}

static int compare_blocks(const struct profile_block *a, const struct profile_block *b)
{
	return compare_number(a->process, b->process)       ?:
		       compare_number(a->object, b->object) ?:
		       compare_number(a->start, b->start)   ?:
							      compare_number(a->end, b->end);
}

static void test_rows_are_distinct_and_in_order(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, seed);

		for (size_t i = 0; i < p->n_stacks; i++) {
			if (p->stacks[i].parent != PROFILE_NONE)
				assert_true(p->stacks[i].parent < i);
			if (i > 0)
				assert_true(compare_stacks(&p->stacks[i - 1], &p->stacks[i]) < 0);
		}
		for (size_t i = 0; i < p->n_streams; i++) {
			if (p->streams[i].parent != PROFILE_NONE)
				assert_true(p->streams[i].parent < i);
			if (i > 0)
				assert_true(compare_streams(&p->streams[i - 1], &p->streams[i]) <
					    0);
		}
		for (size_t i = 1; i < p->n_branches; i++)
			assert_true(compare_branches(&p->branches[i - 1], &p->branches[i]) < 0);
		for (size_t i = 1; i < p->n_blocks; i++)
			assert_true(compare_blocks(&p->blocks[i - 1], &p->blocks[i]) < 0);
		for (size_t i = 1; i < p->n_functions; i++)
			assert_true(compare_number(p->functions[i - 1].object,
						   p->functions[i].object) < 0 ||
				    p->functions[i - 1].start < p->functions[i].start);
		for (size_t i = 1; i < p->n_objects; i++)
			assert_true(p->objects[i - 1].kind <= p->objects[i].kind);
		for (size_t i = 1; i < p->n_processes; i++)
			assert_true(p->processes[i - 1].pid <= p->processes[i].pid);
	}
}

/* Large enough for every way of sorting: digits, parts, insertion. */
static void test_a_large_table_is_sorted(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/a", 0);
	uint64_t random = 1, taken = 0;

	for (size_t i = 0; i < 60000; i++) {
		struct profile_branch branch = {
			.process = PROFILE_NONE,
			.from = { random_below(&random, 2) ? object : PROFILE_NONE,
				  random_count(&random) >> random_below(&random, 50) },
			.to = { object, random_below(&random, 3) },
			.taken = i,
		};

		taken += i;
		profile_add_branch(p, &branch);
	}
	assert_int_equal(profile_finalize(p), 0);
	for (size_t i = 0; i < p->n_branches; i++) {
		taken -= p->branches[i].taken;
		if (i > 0)
			assert_true(compare_branches(&p->branches[i - 1], &p->branches[i]) < 0);
	}
	assert_int_equal(taken, 0);
}

/* They are distinct, in order, used, and have the function that a search finds. */
static void check_places(const struct profile *p)
{
	_cleanup_free_ bool *used = calloc(p->n_places + 1, sizeof(*used));

	assert_non_null(used);
	assert_true(p->finalized);
	for (size_t i = 0; i < p->n_stacks; i++) {
		uint32_t place = p->stack_places[i];

		assert_in_range(place, 0, p->n_places - 1);
		assert_int_equal(p->places[place].object, p->stacks[i].frame.object);
		assert_int_equal(p->places[place].offset, p->stacks[i].frame.offset);
		assert_ptr_equal(profile_stack_function(p, i),
				 profile_find_function(p, p->stacks[i].frame));
		used[place] = true;
	}
	for (size_t i = 0; i < p->n_places; i++) {
		const struct location at = { p->places[i].object, p->places[i].offset };

		assert_true(used[i]);
		if (i > 0)
			assert_true(compare_places((struct location){ p->places[i - 1].object,
								      p->places[i - 1].offset },
						   at) < 0);
	}
}

static void test_more_can_be_added_after_finalizing(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *a = random_profile(seed, 0);
		_cleanup_(profile_freep) struct profile *b = random_profile(seed, seed);
		_cleanup_free_ struct random_rows *more = random_rows_new(seed + 1000);
		uint64_t shuffle = seed;

		random_add_rows(a, more, NULL);
		assert_false(a->finalized);
		assert_int_equal(profile_finalize(a), 0);
		check_places(a);
		random_add_rows(b, more, &shuffle);
		assert_int_equal(profile_finalize(b), 0);
		assert_int_equal(profile_finalize(b), 0);
		assert_true(profile_equal(a, b));
	}
}

static void test_places_of_stacks_have_their_functions(void **state)
{
	size_t n_without = 0, n_with = 0;

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		_cleanup_(profile_freep) struct profile *other = random_profile(seed + 1, 0);
		_cleanup_(profile_freep) struct profile *sum = NULL;
		const struct profile *both[] = { p, other };

		check_places(p);
		assert_int_equal(profile_merge(&sum, both, 2), 0);
		check_places(sum);
		for (size_t i = 0; i < sum->n_places; i++)
			if (sum->places[i].function == PROFILE_NONE)
				n_without++;
			else
				n_with++;
		for (size_t i = 0; i < sum->n_stacks; i += 2)
			sum->stacks[i].samples = 0;
		assert_int_equal(profile_drop_empty(sum), 0);
		assert_int_equal(profile_finalize(sum), 0);
		check_places(sum);
		assert_int_equal(profile_unite(sum), 0);
		check_places(sum);
		profile_drop_tables(sum, PROFILE_TABLE(PROFILE_STACKS));
		assert_int_equal(sum->n_places, 0);
	}
	assert_in_range(n_without, N_SEEDS, SIZE_MAX);
	assert_in_range(n_with, N_SEEDS, SIZE_MAX);
}

static void test_equal_stacks_are_added_up(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/a", 0), first, second;

	/* the same path twice, each with its own leaf */
	first = fixture_stack(p, PROFILE_NONE, PROFILE_NONE, object, 1, 1);
	second = fixture_stack(p, PROFILE_NONE, PROFILE_NONE, object, 1, 2);
	fixture_stack(p, PROFILE_NONE, first, object, 9, 4);
	fixture_stack(p, PROFILE_NONE, second, object, 9, 8);
	fixture_stack(p, PROFILE_NONE, second, object, 5, 16);
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(p->n_stacks, 3);
	assert_int_equal(p->stacks[0].samples, 3);
	assert_int_equal(p->stacks[0].weight, 3);
	assert_int_equal(p->stacks[1].parent, 0);
	assert_int_equal(p->stacks[1].frame.offset, 5);
	assert_int_equal(p->stacks[1].samples, 16);
	assert_int_equal(p->stacks[2].parent, 0);
	assert_int_equal(p->stacks[2].samples, 12);
}

static void test_objects_are_identified_by_build_id(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	struct profile_object known = { .path = "/old (deleted)",
					.build_id = { 7 },
					.n_build_id = 20 };
	struct profile_object file = { .path = "/a", .inode = 1 };
	uint32_t i[5];

	i[0] = (uint32_t)profile_add_object(p, &known);
	known.path = "/new";
	known.inode = 5;
	i[1] = (uint32_t)profile_add_object(p, &known);
	i[2] = (uint32_t)profile_add_object(p, &file);
	file.inode = 2;
	i[3] = (uint32_t)profile_add_object(p, &file);
	i[4] = fixture_object(p, "/nobody's", 0);
	for (size_t k = 0; k < 4; k++)
		fixture_stack(p, PROFILE_NONE, PROFILE_NONE, i[k], 1, 1);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(p->n_objects, 4); /* each user may know another path */
	assert_int_equal(p->n_stacks, 4);
	assert_int_equal(profile_unite(p), 0);

	assert_int_equal(p->n_objects, 3);
	assert_string_equal(p->objects[0].path, "/a");
	assert_int_equal(p->objects[0].inode, 1);
	assert_string_equal(p->objects[1].path, "/a");
	assert_string_equal(p->objects[2].path, "/new");
	assert_int_equal(p->objects[2].inode, 5);
	assert_int_equal(p->n_stacks, 3);
	assert_int_equal(p->stacks[2].samples, 2);
}

/* Anybody can make a file with the build-id of another one. */
static void test_an_untrusted_object_is_identified_by_its_file(void **state)
{
	const struct profile_object files[] = {
		{ .path = "/usr/lib/libc.so" },
		{ .path = "/old/libc.so" },
		{ .path = "/home/a/x", .inode = 7, .untrusted = true, .ctime_ns = 1 },
		{ .path = "/home/a/y", .inode = 7, .untrusted = true, .ctime_ns = 1 },
		{ .path = "/home/a/x", .inode = 7, .untrusted = true, .ctime_ns = 2 },
		{ .path = "/home/a/x", .inode = 8, .untrusted = true, .ctime_ns = 1 },
		{ .path = "/home/b/x", .inode = 7, .minor = 1, .untrusted = true, .ctime_ns = 1 },
	};
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	uint64_t samples = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct profile_object object = files[i];

		object.n_build_id = 20;
		object.build_id[0] = 7;
		fixture_stack(p, PROFILE_NONE, PROFILE_NONE,
			      (uint32_t)profile_add_object(p, &object), 1, 1);
	}
	assert_int_equal(profile_unite(p), 0);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(p->n_objects, 5);
	for (size_t i = 0; i < p->n_stacks; i++)
		samples += p->stacks[i].samples;
	assert_int_equal(p->n_stacks, 5);
	assert_int_equal(samples, 7);
	for (size_t i = 0; i < 4; i++) {
		assert_true(p->objects[i].untrusted);
		assert_false(profile_same_object(&p->objects[i], &p->objects[i + 1]));
	}
	assert_string_equal(p->objects[4].path, "/old/libc.so");
	assert_false(p->objects[4].untrusted);
}

/* Users may see the processes of their own user and units only, so these are part of the key. */
static void test_a_process_is_another_for_another_user_or_unit(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();

	add_process(p, 4, "a.service", 1000);
	add_process(p, 4, "a.service", 0);
	add_process(p, 4, "b.service", 0);
	add_process(p, 4, "a.service", 0);
	add_process(p, 3, NULL, UINT32_MAX);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(p->n_processes, 4);
	assert_null(p->processes[0].unit);
	assert_int_equal(p->processes[1].uid, 0);
	assert_string_equal(p->processes[1].unit, "a.service");
	assert_int_equal(p->processes[1].samples, 2);
	assert_string_equal(p->processes[2].unit, "b.service");
	assert_int_equal(p->processes[3].uid, 1000);
	assert_int_equal(p->processes[3].samples, 1);
}

static void test_strings_are_copied(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	char path[] = "/a", comm[] = "c";

	fixture_stack(p, PROFILE_NONE, PROFILE_NONE, fixture_object(p, path, 0), 0, 1);
	profile_add_process(p, &(struct profile_process){ .comm = comm });
	path[1] = comm[0] = 'x';
	assert_int_equal(profile_finalize(p), 0);
	assert_string_equal(p->objects[0].path, "/a");
	assert_string_equal(p->processes[0].comm, "c");
}

static void test_a_chain_of_calls_of_any_depth_is_finalized(void **state)
{
	_cleanup_(profile_freep) struct profile *p = fixture_new();
	uint32_t parent = PROFILE_NONE;

	for (uint64_t i = 0; i < 100000; i++)
		parent = fixture_stack(p, PROFILE_NONE, parent, PROFILE_NONE, i, 1);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(p->n_stacks, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_order_of_adding_does_not_matter),
		cmocka_unit_test(test_finalizing_keeps_the_sums),
		cmocka_unit_test(test_rows_are_distinct_and_in_order),
		cmocka_unit_test(test_a_large_table_is_sorted),
		cmocka_unit_test(test_more_can_be_added_after_finalizing),
		cmocka_unit_test(test_places_of_stacks_have_their_functions),
		cmocka_unit_test(test_equal_stacks_are_added_up),
		cmocka_unit_test(test_objects_are_identified_by_build_id),
		cmocka_unit_test(test_an_untrusted_object_is_identified_by_its_file),
		cmocka_unit_test(test_a_process_is_another_for_another_user_or_unit),
		cmocka_unit_test(test_strings_are_copied),
		cmocka_unit_test(test_a_chain_of_calls_of_any_depth_is_finalized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
