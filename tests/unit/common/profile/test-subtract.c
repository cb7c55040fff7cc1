/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/profile/drop-empty.h"
#include "common/profile/subtract.h"
#include "common/util/cleanup.h"
#include "tests/support/random-profile.h"

#define N_SEEDS 300

/* Without rows that count nothing, and with cycles whose sums do not overflow. */
static struct profile *new_random(uint64_t seed)
{
	struct profile *p = random_profile(seed, 0);

	for (size_t i = 0; i < p->n_branches; i++)
		p->branches[i].cycles >>= 12;
	for (size_t i = 0; i < p->n_processes; i++)
		p->processes[i].n_gone = 0;
	assert_int_equal(profile_drop_empty(p), 0);
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

/* The rows of the earlier profile, which count nothing: they tell names. */
static struct profile *new_names(uint64_t seed)
{
	struct profile *p = new_random(seed);

	for (size_t i = 0; i < p->n_processes; i++)
		p->processes[i].samples = 0;
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].samples = p->stacks[i].stitched = p->stacks[i].weight =
			p->stacks[i].pruned = p->stacks[i].variance = 0;
	for (size_t i = 0; i < p->n_streams; i++)
		p->streams[i].hits = p->streams[i].pruned = p->streams[i].cycles =
			p->streams[i].variance = 0;
	for (size_t i = 0; i < p->n_branches; i++)
		p->branches[i] = (struct profile_branch){
			.process = p->branches[i].process,
			.kind = p->branches[i].kind,
			.from = p->branches[i].from,
			.to = p->branches[i].to,
		};
	for (size_t i = 0; i < p->n_blocks; i++)
		p->blocks[i].runs = p->blocks[i].cycles = p->blocks[i].cycles_rows =
			p->blocks[i].variance = 0;
	memset(&p->counters, 0, sizeof(p->counters));
	return p;
}

static void test_what_came_later(void **state)
{
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *earlier = new_random(2 * seed);
		_cleanup_(profile_freep) struct profile *names = new_names(2 * seed);
		_cleanup_(profile_freep) struct profile *later = new_random(2 * seed + 1);
		_cleanup_(profile_freep) struct profile *whole = NULL, *rest = NULL;
		_cleanup_(profile_freep) struct profile *expected = NULL;

		assert_int_equal(
			profile_merge(&whole, (const struct profile *[]){ later, earlier }, 2), 0);
		assert_int_equal(
			profile_merge(&expected, (const struct profile *[]){ later, names }, 2), 0);
		assert_int_equal(profile_drop_empty(expected), 0);
		assert_int_equal(profile_finalize(expected), 0);
		assert_int_equal(profile_subtract(&rest, whole, earlier), 0);
		expected->counters.stacks_error = rest->counters.stacks_error;
		expected->counters.streams_error = rest->counters.streams_error;
		assert_true(profile_equal(rest, expected));
	}
}

static void test_nothing_came(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_random(1), *rest = NULL;

	assert_int_equal(profile_subtract(&rest, p, p), 0);
	assert_int_equal(rest->n_objects + rest->n_functions + rest->n_processes + rest->n_stacks +
				 rest->n_streams + rest->n_branches + rest->n_blocks,
			 0);
	assert_int_equal(rest->counters.samples, 0);
}

/* A process of which main() calls work(). */
struct sampled {
	struct profile_object object;
	struct profile_process process;
	uint64_t in_main, in_work;
};

static struct profile *new_sampled(const struct sampled *sampled)
{
	struct profile_process process = sampled->process;
	struct profile_stack row = { .parent = PROFILE_NONE, .frame = { 0, 8 } };
	struct profile *p;

	process.samples = sampled->in_main + sampled->in_work;
	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_add_object(p, &sampled->object), 0);
	assert_int_equal(profile_add_process(p, &process), 0);
	row.samples = row.weight = sampled->in_main;
	assert_int_equal(profile_add_stack(p, &row), 0);
	row = (struct profile_stack){ .frame = { 0, 16 } };
	row.samples = row.weight = sampled->in_work;
	if (sampled->in_work > 0)
		assert_int_equal(profile_add_stack(p, &row), 1);
	p->counters.samples = process.samples;
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static const struct sampled known = {
	.object = { .path = "/bin/a", .inode = 5, .n_build_id = 20 },
	.process = { .pid = 7, .start_ns = 3, .comm = "a", .unit = "a.service", .uid = 1 },
	.in_main = 5,
	.in_work = 9,
};

static void expect(const struct sampled *earlier, uint64_t in_main, uint64_t in_work)
{
	_cleanup_(profile_freep) struct profile *whole = new_sampled(&known);
	_cleanup_(profile_freep) struct profile *part = new_sampled(earlier), *rest = NULL;
	size_t n = (in_main > 0 || in_work > 0) + (in_work > 0);

	assert_int_equal(profile_subtract(&rest, whole, part), 0);
	assert_int_equal(rest->n_stacks, n);
	assert_int_equal(rest->n_objects, n > 0);
	assert_int_equal(rest->n_processes, n > 0);
	if (n > 0) {
		assert_int_equal(rest->stacks[0].samples, in_main);
		assert_int_equal(rest->objects[0].n_build_id, 20);
		assert_string_equal(rest->processes[0].unit, "a.service");
		assert_int_equal(rest->processes[0].samples, in_main + in_work);
	}
	if (n > 1)
		assert_int_equal(rest->stacks[1].samples, in_work);
}

static void test_what_was_learned_since(void **state)
{
	struct sampled earlier = known;

	earlier.object.n_build_id = 0;
	earlier.process.unit = NULL;
	earlier.process.uid = UINT32_MAX;
	earlier.in_main = 2;
	expect(&earlier, 3, 0);
	earlier.in_work = 4;
	expect(&earlier, 3, 5);
}

/* Samples of work() were pruned since. */
static void test_what_was_pruned_since(void **state)
{
	struct sampled earlier = known;

	earlier.in_main = 1;
	earlier.in_work = 11;
	expect(&earlier, 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_came_later),
		cmocka_unit_test(test_nothing_came),
		cmocka_unit_test(test_what_was_learned_since),
		cmocka_unit_test(test_what_was_pruned_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
