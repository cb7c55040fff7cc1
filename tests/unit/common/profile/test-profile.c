/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/profile/profile.h"
#include "common/util/cleanup.h"
#include "tests/support/random-profile.h"

#define N_SEEDS 200

static struct profile *new_profile(void)
{
	struct profile *p = NULL;

	assert_int_equal(profile_new(&p), 0);
	return p;
}

static struct profile *merged(const struct profile *a, const struct profile *b)
{
	const struct profile *both[] = { a, b };
	struct profile *sum = NULL;

	assert_int_equal(profile_merge(&sum, both, 2), 0);
	return sum;
}

static uint32_t add_object(struct profile *p, const char *path)
{
	return (uint32_t)profile_add_object(p, &(struct profile_object){ .path = path });
}

static uint32_t add_process(struct profile *p, int32_t pid, const char *unit, uint32_t uid)
{
	return (uint32_t)profile_add_process(
		p, &(struct profile_process){
			   .pid = pid, .comm = "c", .unit = unit, .uid = uid, .samples = 1 });
}

static uint32_t add_leaf(struct profile *p, uint32_t parent, uint32_t object, uint64_t offset,
			 uint64_t samples)
{
	struct profile_stack stack = {
		.parent = parent,
		.process = PROFILE_NONE,
		.frame = { object, offset },
		.samples = samples,
		.weight = 10 * samples,
	};

	return (uint32_t)profile_add_stack(p, &stack);
}

static void add_function(struct profile *p, uint32_t object, uint64_t start, uint64_t size,
			 const char *name)
{
	profile_add_function(
		p, &(struct profile_function){
			   .object = object, .start = start, .size = size, .name = name });
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

/* What sealing may not change: the sums of all counts. */
static void test_sealing_keeps_the_sums(void **state)
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
	/* roots come first: the 0 that PROFILE_NONE + 1 is */
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
	_cleanup_(profile_freep) struct profile *p = new_profile();
	uint32_t object = add_object(p, "/a");
	uint64_t random = 1, taken = 0;

	for (size_t i = 0; i < 60000; i++) {
		struct profile_branch branch = {
			.process = PROFILE_NONE,
			.from = { random_below(&random, 2) ? object : PROFILE_NONE,
				  random_next(&random) >> random_below(&random, 50) },
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

static void test_more_can_be_added_after_sealing(void **state)
{
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *a = random_profile(seed, 0);
		_cleanup_(profile_freep) struct profile *b = random_profile(seed, seed);
		_cleanup_free_ struct random_rows *more = random_rows_new(seed + 1000);
		uint64_t shuffle = seed;

		random_add_rows(a, more, NULL);
		assert_false(a->finalized);
		assert_int_equal(profile_finalize(a), 0);
		random_add_rows(b, more, &shuffle);
		assert_int_equal(profile_finalize(b), 0);
		assert_int_equal(profile_finalize(b), 0);
		assert_true(profile_equal(a, b));
	}
}

static void test_equal_stacks_are_added_up(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_profile();
	uint32_t object = add_object(p, "/a"), first, second;

	/* the same path twice, with a leaf of its own under each */
	first = add_leaf(p, PROFILE_NONE, object, 1, 1);
	second = add_leaf(p, PROFILE_NONE, object, 1, 2);
	add_leaf(p, first, object, 9, 4);
	add_leaf(p, second, object, 9, 8);
	add_leaf(p, second, object, 5, 16);
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(p->n_stacks, 3);
	assert_int_equal(p->stacks[0].samples, 3);
	assert_int_equal(p->stacks[0].weight, 30);
	assert_int_equal(p->stacks[1].parent, 0);
	assert_int_equal(p->stacks[1].frame.offset, 5);
	assert_int_equal(p->stacks[1].samples, 16);
	assert_int_equal(p->stacks[2].parent, 0);
	assert_int_equal(p->stacks[2].samples, 12);
}

static void test_objects_are_known_by_build_id(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_profile();
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
	i[4] = add_object(p, "/nobody's");
	for (size_t k = 0; k < 4; k++)
		add_leaf(p, PROFILE_NONE, i[k], 1, 1);
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(p->n_objects, 3);
	assert_string_equal(p->objects[0].path, "/a");
	assert_int_equal(p->objects[0].inode, 1);
	assert_string_equal(p->objects[1].path, "/a");
	assert_string_equal(p->objects[2].path, "/new");
	assert_int_equal(p->objects[2].inode, 5);
	assert_int_equal(p->n_stacks, 3);
	assert_int_equal(p->stacks[2].samples, 2);
}

/* What it did as root is root's, and what in one unit that unit's, for who may see it. */
static void test_a_process_is_another_for_another_user_or_unit(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_profile();

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
	_cleanup_(profile_freep) struct profile *p = new_profile();
	char path[] = "/a", comm[] = "c";

	add_leaf(p, PROFILE_NONE, add_object(p, path), 0, 1);
	profile_add_process(p, &(struct profile_process){ .comm = comm });
	path[1] = comm[0] = 'x';
	assert_int_equal(profile_finalize(p), 0);
	assert_string_equal(p->objects[0].path, "/a");
	assert_string_equal(p->processes[0].comm, "c");
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
	_cleanup_(profile_freep) struct profile *a = new_profile(), *b = new_profile(), *sum = NULL;
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
	_cleanup_(profile_freep) struct profile *p = new_profile();
	uint32_t a = add_object(p, "/a"), b = add_object(p, "/b"), c = add_object(p, "/c");

	add_function(p, a, 10, 10, "f");
	add_function(p, a, 20, 10, "unused");
	add_function(p, a, 30, 0, "empty");
	add_function(p, a, UINT64_MAX - 3, 100, "last");
	add_function(p, b, 0, 10, "g");
	add_function(p, c, 0, 10, "of an object that is not used");
	add_function(p, PROFILE_NONE, 5, 1, "of no object");
	add_leaf(p, PROFILE_NONE, a, 10, 1);
	add_leaf(p, PROFILE_NONE, a, 19, 1);
	add_leaf(p, PROFILE_NONE, a, 30, 1);
	add_leaf(p, PROFILE_NONE, a, UINT64_MAX, 1);
	add_leaf(p, PROFILE_NONE, b, 9, 1);
	add_leaf(p, PROFILE_NONE, PROFILE_NONE, 5, 1);
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
	_cleanup_(profile_freep) struct profile *p = new_profile();
	uint32_t a = add_object(p, "/a");
	uint32_t caller;

	add_function(p, a, 10, 10, "trampoline");
	add_function(p, a, 30, 10, "calls at its end");
	add_function(p, a, 40, 10, "comes after it");
	add_function(p, a, 60, 50, "outer");
	add_function(p, a, 70, 5, "inner");
	add_function(p, a, 120, 10, "after a branch");
	caller = add_leaf(p, PROFILE_NONE, a, 9, 0);
	caller = add_leaf(p, caller, a, 39, 0);
	caller = add_leaf(p, caller, a, 69, 0);
	add_leaf(p, caller, a, 200, 1);
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
	_cleanup_(profile_freep) struct profile *p = new_profile();
	uint32_t a = add_object(p, "/a");

	add_function(p, a, 0, 100, "outer");
	add_function(p, a, 10, 20, "inner");
	add_function(p, a, 12, 3, "innermost");
	add_function(p, a, 40, 10, "second");
	add_function(p, a, 40, 20, "alias, which comes first"); /* in the alphabet */
	for (uint64_t offset = 0; offset < 100; offset++)
		add_leaf(p, PROFILE_NONE, a, offset, 1);
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

/* profile_find_function() against looking at all of them. */
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
	_cleanup_(profile_freep) struct profile *p = new_profile();
	const uint64_t base = 0xffffffff81000000;

	for (int kind = 0; kind < N_OBJECT_KINDS; kind++) {
		struct profile_object object = { .kind = (enum object_kind)kind, .path = "x" };

		object.base = kind == OBJECT_KERNEL || kind == OBJECT_MODULE ? base : 0;
		add_leaf(p, PROFILE_NONE, (uint32_t)profile_add_object(p, &object), 0, 1);
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

static void test_a_chain_of_calls_of_any_depth_is_sealed(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_profile();
	uint32_t parent = PROFILE_NONE;

	for (uint64_t i = 0; i < 100000; i++)
		parent = add_leaf(p, parent, PROFILE_NONE, i, 1);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(p->n_stacks, 100000);
}

static void test_empty_profiles_are_equal(void **state)
{
	_cleanup_(profile_freep) struct profile *a = new_profile(), *b = new_profile();

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
		cmocka_unit_test(test_the_order_of_adding_does_not_matter),
		cmocka_unit_test(test_sealing_keeps_the_sums),
		cmocka_unit_test(test_rows_are_distinct_and_in_order),
		cmocka_unit_test(test_a_large_table_is_sorted),
		cmocka_unit_test(test_more_can_be_added_after_sealing),
		cmocka_unit_test(test_equal_stacks_are_added_up),
		cmocka_unit_test(test_objects_are_known_by_build_id),
		cmocka_unit_test(test_a_process_is_another_for_another_user_or_unit),
		cmocka_unit_test(test_strings_are_copied),
		cmocka_unit_test(test_merging_is_associative_and_commutative),
		cmocka_unit_test(test_merging_one_copies_it_and_none_is_empty),
		cmocka_unit_test(test_merging_adds_counters_and_spans_both_times),
		cmocka_unit_test(test_functions_are_found_and_unused_ones_dropped),
		cmocka_unit_test(test_a_frame_right_before_a_function_lies_in_it),
		cmocka_unit_test(test_of_functions_that_overlap_the_innermost_is_found),
		cmocka_unit_test(test_find_agrees_with_a_plain_search),
		cmocka_unit_test(test_raw_addresses),
		cmocka_unit_test(test_a_chain_of_calls_of_any_depth_is_sealed),
		cmocka_unit_test(test_empty_profiles_are_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
