/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limiting what each user takes of a profile: the rarest goes, all sums stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/profile/limit/limit.h"
#include "common/profile/other.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "tests/support/random-profile.h"

#define HEAVY 1000
#define LIGHT 1001

static uint64_t ten_of_heavy(uint32_t uid, void *userdata)
{
	return uid == HEAVY ? 10 : UINT64_MAX;
}

static uint64_t same_of_all(uint32_t uid, void *userdata)
{
	return *(uint64_t *)userdata;
}

static uint32_t add_process(struct profile *p, int32_t pid, uint32_t uid)
{
	const struct profile_process process = { .pid = pid, .comm = "x", .uid = uid };
	int64_t i = profile_add_process(p, &process);

	assert_true(i >= 0);
	return (uint32_t)i;
}

static uint32_t add_stack(struct profile *p, uint32_t process, uint32_t parent, uint64_t offset,
			  uint64_t samples)
{
	const struct profile_stack stack = { .parent = parent,
					     .process = process,
					     .frame = { PROFILE_NONE, offset },
					     .samples = samples,
					     .weight = samples * 7 };
	int64_t i = profile_add_stack(p, &stack);

	p->processes[process].samples += samples;
	p->counters.samples += samples;
	p->counters.weight += samples * 7;
	assert_true(i >= 0);
	return (uint32_t)i;
}

/* What two users did: @n calls deep, with a sample at each depth; and twenty, with two. */
static struct profile *make_two_users(uint32_t n)
{
	struct profile *p;
	uint32_t heavy, light, at = PROFILE_NONE;

	assert_int_equal(profile_new(&p), 0);
	heavy = add_process(p, 1, HEAVY);
	light = add_process(p, 2, LIGHT);
	for (uint32_t i = 0; i < n; i++)
		at = add_stack(p, heavy, at, i, 1);
	at = PROFILE_NONE;
	for (uint32_t i = 0; i < 20; i++)
		at = add_stack(p, light, at, i, 2);
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static void test_only_who_has_too_much_is_pruned(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_two_users(100);
	size_t n_heavy = 0, n_light = 0;

	assert_int_equal(profile_limit(p, ten_of_heavy, NULL), 1);
	assert_int_equal(profile_finalize(p), 0);
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];
		bool is_heavy = p->processes[stack->process].uid == HEAVY;

		n_heavy += is_heavy;
		n_light += !is_heavy;
		if (!is_heavy)
			assert_true(stack->samples == 2 && stack->pruned == 0);
		else if (stack->frame.offset == 8)
			assert_true(stack->samples == 92 && stack->pruned == 92 &&
				    stack->weight == 92 * 7 && stack->parent != PROFILE_NONE);
		else
			assert_true(stack->samples == 1 && stack->pruned == 0);
	}
	assert_int_equal(n_heavy, 9);
	assert_int_equal(n_light, 20);
	assert_int_equal(p->counters.stacks_pruned, 92);
	assert_int_equal(p->counters.stacks_error, 92);
	assert_int_equal(p->counters.samples, 140);
}

static void test_who_keeps_within_the_limit_keeps_all(void **state)
{
	_cleanup_(profile_freep) struct profile *p = make_two_users(10);
	_cleanup_(profile_freep) struct profile *same = make_two_users(10);

	assert_int_equal(profile_limit(p, ten_of_heavy, NULL), 0);
	assert_true(profile_equal(p, same));
}

/* The rare ones of many, each in a function of its own: a few keep it. */
static void test_rare_functions_are_counted_at_the_address_0(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	const struct profile_object object = { .kind = OBJECT_FILE, .path = "/x" };
	uint32_t process, file, at;

	assert_int_equal(profile_new(&p), 0);
	process = add_process(p, 1, HEAVY);
	file = (uint32_t)profile_add_object(p, &object);
	for (uint32_t i = 0; i < 50; i++) {
		const struct profile_function f = { file, 1000 + i, 1, "f", 0 };

		assert_true(profile_add_function(p, &f) >= 0);
		at = add_stack(p, process, PROFILE_NONE, 1000 + i, 1 + i);
		p->stacks[at].frame.object = file;
	}
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_limit(p, ten_of_heavy, NULL), 1);
	assert_int_equal(profile_finalize(p), 0);
	/* 1042 to 1049, one below its caller, which is none, and one without callers; the rest */
	assert_int_equal(p->n_stacks, 11);
	assert_int_equal(p->stacks[0].frame.offset, 1040);
	assert_int_equal(p->stacks[1].frame.offset, 1041);
	assert_int_equal(p->stacks[1].samples, 42);
	assert_int_equal(p->stacks[1].pruned, 42);
	assert_int_equal(p->stacks[10].frame.object, PROFILE_NONE);
	assert_int_equal(p->stacks[10].samples, 40 * 41 / 2);
	assert_int_equal(p->stacks[10].pruned, 40 * 41 / 2);
	assert_int_equal(p->counters.stacks_error, 42);
}

/* Callers that are kept have all of their samples, and functions keep theirs. */
static void test_pruned_samples_keep_their_function_and_callers(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	const struct profile_object object = { .kind = OBJECT_FILE, .path = "/x" };
	uint64_t max = 40, n_f = 0, n_g = 0;
	uint32_t process, file, root, at;

	assert_int_equal(profile_new(&p), 0);
	process = add_process(p, 1, HEAVY);
	file = (uint32_t)profile_add_object(p, &object);
	assert_true(profile_add_function(
			    p, &(struct profile_function){ file, 1000, 500, "f", 0 }) >= 0);
	assert_true(profile_add_function(
			    p, &(struct profile_function){ file, 2000, 500, "g", 0 }) >= 0);
	root = add_stack(p, process, PROFILE_NONE, 5, 0);
	for (uint32_t i = 0; i < 200; i++) {
		at = add_stack(p, process, root, i % 2 ? 1000 + i : 2000 + i, 3);
		p->stacks[at].frame.object = file;
	}
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(profile_limit_all(p, PROFILE_ALL_TABLES, max), 1);
	assert_int_equal(profile_finalize(p), 0);
	assert_true(p->n_stacks > 20 && p->n_stacks <= max);
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];

		if (!stack->samples)
			continue;
		assert_true(stack->parent != PROFILE_NONE);
		n_f += stack->frame.offset < 2000 ? stack->samples : 0;
		n_g += stack->frame.offset >= 2000 ? stack->samples : 0;
	}
	assert_int_equal(n_f, 300);
	assert_int_equal(n_g, 300);
}

/* All that limiting must leave as it is. */
struct sums {
	uint64_t samples, stitched, weight, hits, rows, runs, pruned_streams;
};

static struct sums sum_up(const struct profile *p)
{
	const struct profile_counters *c = &p->counters;
	struct sums s = { .rows = c->rows_counted + c->rows_limit,
			  .runs = c->runs_counted + c->runs_limit };

	for (size_t i = 0; i < p->n_stacks; i++) {
		s.samples += p->stacks[i].samples;
		s.stitched += p->stacks[i].stitched;
		s.weight += p->stacks[i].weight;
	}
	for (size_t i = 0; i < p->n_streams; i++) {
		s.hits += p->streams[i].hits;
		s.pruned_streams += p->streams[i].pruned;
	}
	return s;
}

static uint64_t sum_of_taken(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_branches; i++)
		n += p->branches[i].taken;
	return n;
}

static uint64_t sum_of_runs(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_blocks; i++)
		n += p->blocks[i].runs;
	return n;
}

static uint64_t sum_of_pruned(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		n += p->stacks[i].pruned;
	return n;
}

/* Rows of users 0, 1 and the unknown one, without those at the address 0. */
static void assert_limited(const struct profile *p, uint64_t max)
{
	uint64_t n[3][4] = { 0 };

#define COUNT(k, table, condition)                                                      \
	for (size_t i = 0; i < p->n_##table; i++) {                                     \
		uint32_t process = p->table[i].process;                                 \
		uint32_t uid = process == PROFILE_NONE ? 2 : p->processes[process].uid; \
                                                                                        \
		n[uid > 1 ? 2 : uid][k] += condition;                                   \
	}
	COUNT(0, stacks, p->stacks[i].frame.object != PROFILE_NONE || p->stacks[i].frame.offset > 0)
	COUNT(1, streams, 1)
	COUNT(2, branches, 1)
	COUNT(3, blocks, 1)
#undef COUNT
	for (size_t u = 0; u < 3; u++)
		for (size_t k = 0; k < 4; k++)
			assert_true(n[u][k] <= max);
}

static void test_sums_stay_whatever_is_pruned(void **state)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		struct sums before = sum_up(p), after;
		struct profile_counters c = p->counters;
		uint64_t max = seed % 23, pruned = sum_of_pruned(p), taken = sum_of_taken(p);
		uint64_t runs = sum_of_runs(p);
		int r = profile_limit(p, same_of_all, &max);

		assert_true(r >= 0);
		after = sum_up(p);
		assert_int_equal(after.samples, before.samples);
		assert_int_equal(after.stitched, before.stitched);
		assert_int_equal(after.weight, before.weight);
		assert_int_equal(after.rows, before.rows);
		assert_int_equal(after.runs, before.runs);
		assert_int_equal(after.hits + p->counters.streams_limit,
				 before.hits + c.streams_limit);
		assert_int_equal(p->counters.streams + p->counters.streams_limit,
				 c.streams + c.streams_limit);
		assert_int_equal(after.pruned_streams - before.pruned_streams,
				 p->counters.streams_pruned - c.streams_pruned);
		assert_int_equal(sum_of_pruned(p) - pruned,
				 p->counters.stacks_pruned - c.stacks_pruned);
		assert_int_equal(taken - sum_of_taken(p), p->counters.rows_limit - c.rows_limit);
		assert_int_equal(runs - sum_of_runs(p), p->counters.runs_limit - c.runs_limit);
		assert_int_equal(profile_finalize(p), 0);
		assert_limited(p, max);
	}
}

static void test_a_whole_profile_is_limited(void **state)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		uint64_t max = seed * 3, zeros = 0;
		size_t n = p->n_stacks + p->n_streams + p->n_branches + p->n_blocks;
		struct sums before = sum_up(p), after;

		assert_int_equal(profile_limit_all(p, PROFILE_ALL_TABLES, max), n > max);
		after = sum_up(p);
		assert_int_equal(after.samples, before.samples);
		assert_int_equal(profile_finalize(p), 0);
		for (size_t i = 0; i < p->n_stacks; i++)
			zeros += p->stacks[i].frame.object == PROFILE_NONE &&
				 p->stacks[i].frame.offset == 0;
		assert_true(p->n_stacks + p->n_streams + p->n_branches + p->n_blocks <=
			    max + zeros);
	}
}

#define BUT_STACKS (PROFILE_ALL_TABLES & ~PROFILE_TABLE(PROFILE_STACKS))
#define N_PAIRS    ((N_RANDOM_PROCESSES + 1) * (N_RANDOM_OBJECTS + 1))

/* By process and object: what branches, runs and newest branches of streams counted. */
struct pair_sums {
	uint64_t taken[N_PAIRS], branch_cycles[N_PAIRS], runs[N_PAIRS], hits[N_PAIRS];
};

static size_t pair_of(const struct profile *p, uint32_t process, uint32_t object)
{
	return MIN((size_t)process, p->n_processes) * (N_RANDOM_OBJECTS + 1) +
	       MIN((size_t)object, p->n_objects);
}

static struct pair_sums sum_up_pairs(const struct profile *p)
{
	struct pair_sums sums = { 0 };

	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *b = &p->branches[i];

		sums.taken[pair_of(p, b->process, b->from.object)] += b->taken;
		sums.branch_cycles[pair_of(p, b->process, b->from.object)] += b->cycles;
	}
	for (size_t i = 0; i < p->n_blocks; i++)
		sums.runs[pair_of(p, p->blocks[i].process, p->blocks[i].object)] +=
			p->blocks[i].runs;
	for (size_t i = 0; i < p->n_streams; i++) {
		const struct profile_stream *root = &p->streams[i];

		while (root->parent != PROFILE_NONE)
			root = &p->streams[root->parent];
		sums.hits[pair_of(p, root->process, root->from.object)] += p->streams[i].hits;
	}
	return sums;
}

static uint64_t few_of_user_0(uint32_t uid, void *userdata)
{
	return uid == 0 ? *(uint64_t *)userdata : UINT64_MAX;
}

/* Where half of the rows are enough for one of each process and object. */
static void test_sums_by_process_and_object_stay(void **state)
{
	size_t n_others = 0;

	for (uint64_t seed = 0; seed < 200; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		struct profile_counters c = p->counters;
		struct pair_sums before = sum_up_pairs(p), after;
		uint64_t max = 16 + seed % 16;
		struct other_sums others;

		assert_true(profile_limit_tables(p, BUT_STACKS, few_of_user_0, &max) >= 0);
		after = sum_up_pairs(p);
		others = other_sum_up(p);
		n_others += others.taken > 0 && others.runs > 0 && others.hits > 0;
		if (p->counters.rows_limit == c.rows_limit && p->counters.cycles == c.cycles) {
			assert_memory_equal(after.taken, before.taken, sizeof(after.taken));
			assert_memory_equal(after.branch_cycles, before.branch_cycles,
					    sizeof(after.branch_cycles));
		}
		if (p->counters.runs_limit == c.runs_limit)
			assert_memory_equal(after.runs, before.runs, sizeof(after.runs));
		if (p->counters.streams_limit == c.streams_limit)
			assert_memory_equal(after.hits, before.hits, sizeof(after.hits));
		assert_int_equal(profile_finalize(p), 0);
		assert_int_equal(profile_limit_tables(p, BUT_STACKS, few_of_user_0, &max), 0);
	}
	assert_true(n_others > 20);
}

/* What is limited again goes to the same rows. */
static void test_rows_for_others_are_added_to(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	uint64_t max = 10;
	uint32_t process, file;

	assert_int_equal(profile_new(&p), 0);
	process = add_process(p, 1, HEAVY);
	file = (uint32_t)profile_add_object(
		p, &(struct profile_object){ .kind = OBJECT_FILE, .path = "/x" });
	for (uint32_t i = 0; i < 100; i++)
		assert_true(profile_add_branch(p, &(struct profile_branch){ .process = process,
									    .from = { file, 1 + i },
									    .to = { file, 1000 },
									    .taken = 1 + i }) >= 0);
	assert_int_equal(profile_finalize(p), 0);
	for (; max > 1; max /= 2) {
		assert_int_equal(profile_limit_all(p, PROFILE_TABLE(PROFILE_BRANCHES), max), 1);
		assert_int_equal(profile_finalize(p), 0);
		assert_int_equal(p->n_branches, max);
		/* the first by its location; the others are the heaviest */
		assert_true(other_is_branch(&p->branches[0]));
		assert_int_equal(p->branches[0].taken, (101 - max) * (102 - max) / 2);
		assert_int_equal(p->branches[1].taken, 102 - max);
		assert_int_equal(sum_of_taken(p), 5050);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_who_has_too_much_is_pruned),
		cmocka_unit_test(test_who_keeps_within_the_limit_keeps_all),
		cmocka_unit_test(test_rare_functions_are_counted_at_the_address_0),
		cmocka_unit_test(test_pruned_samples_keep_their_function_and_callers),
		cmocka_unit_test(test_a_whole_profile_is_limited),
		cmocka_unit_test(test_sums_stay_whatever_is_pruned),
		cmocka_unit_test(test_sums_by_process_and_object_stay),
		cmocka_unit_test(test_rows_for_others_are_added_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
