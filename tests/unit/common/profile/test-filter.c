/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/profile/filter.h"
#include "common/util/cleanup.h"
#include "tests/support/random-profile.h"

/*
 * Two processes, two objects: /usr/bin/app with main() at 0..99 and ns::work<int>(int) at 100..199,
 * and the kernel. Both processes run main -> work; the second is also in the kernel.
 */
static struct profile *new_fixture(void)
{
	struct profile_stack in_kernel = { .samples = 7, .weight = 70 };
	struct profile_branch enter = { .taken = 8 };
	uint32_t app, kernel, processes[2];
	struct profile *p = NULL;

	assert_int_equal(profile_new(&p), 0);
	app = (uint32_t)profile_add_object(p, &(struct profile_object){ .path = "/usr/bin/app" });
	kernel = (uint32_t)profile_add_object(
		p, &(struct profile_object){ .kind = OBJECT_KERNEL, .path = "[kernel]" });
	profile_add_function(p, &(struct profile_function){ app, 0, 100, "main", 0 });
	profile_add_function(
		p, &(struct profile_function){ app, 100, 100, "void ns::work<int>(int)", 0 });
	for (uint32_t i = 0; i < 2; i++) {
		struct profile_process process = {
			.pid = (int32_t)i + 10,
			.comm = i == 0 ? "first" : "second",
			.unit = i == 0 ? "web.service" : NULL,
			.uid = i == 0 ? 1000 : UINT32_MAX,
			.samples = i == 0 ? 3 : 10,
		};
		struct profile_stack main_frame = { PROFILE_NONE, 0, { app, 50 }, 1,    0,
						    10,           0, 0,           { 3 } };
		struct profile_stack work_frame = { 0, 0, { app, 150 }, 2, 1, 20, 1, 0, { 6 } };
		struct profile_stream newest = {
			PROFILE_NONE, 0, { app, 50 }, { app, 100 }, 1, 1, 9, { 0 }
		};
		struct profile_stream before = { 0, 0, { app, 40 }, { app, 20 }, 2, 0, 8, { 0 } };
		struct profile_branch call = { 0, 0,  { app, 50 }, { app, 100 }, 5, 1, 4,
					       0, 40, 4,           { 0 } };
		struct profile_block block = { 0, app, 100, 150, 6, 30, 3, { 0 } };

		processes[i] = (uint32_t)profile_add_process(p, &process);
		main_frame.process = work_frame.process = newest.process = before.process =
			call.process = block.process = processes[i];
		work_frame.parent = (uint32_t)profile_add_stack(p, &main_frame);
		profile_add_stack(p, &work_frame);
		before.parent = (uint32_t)profile_add_stream(p, &newest);
		profile_add_stream(p, &before);
		profile_add_branch(p, &call);
		profile_add_block(p, &block);
	}
	in_kernel.parent = PROFILE_NONE;
	in_kernel.process = enter.process = processes[1];
	in_kernel.frame = (struct location){ kernel, 7 };
	enter.from = (struct location){ app, 60 };
	enter.to = (struct location){ kernel, 0 };
	profile_add_stack(p, &in_kernel);
	profile_add_branch(p, &enter);
	p->counters = (struct profile_counters){ .samples = 13,
						 .weight = 130,
						 .streams = 6,
						 .rows = 20,
						 .rows_counted = 18,
						 .runs = 12,
						 .runs_counted = 12,
						 .cycles = 80,
						 .lost_samples = 9 };
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static struct profile *filtered(const struct profile *p, struct profile_filter filter)
{
	struct profile *part = NULL;

	assert_int_equal(profile_filter(&part, p, &filter), 0);
	assert_true(part->finalized);
	return part;
}

static void test_nothing_asked_for_gives_the_whole(void **state)
{
	for (uint64_t seed = 1; seed < 50; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		_cleanup_(profile_freep) struct profile *part = filtered(p, PROFILE_FILTER_INIT);

		assert_true(profile_equal(p, part));
	}
}

static void check_first(const struct profile *part)
{
	assert_int_equal(part->n_processes, 1);
	assert_int_equal(part->processes[0].pid, 10);
	assert_int_equal(part->processes[0].samples, 3);
	assert_int_equal(part->n_objects, 1);
	assert_string_equal(part->objects[0].path, "/usr/bin/app");
	assert_int_equal(part->n_functions, 2);
	assert_int_equal(part->n_stacks, 2);
	assert_int_equal(part->n_streams, 2);
	assert_int_equal(part->counters.streams, 3);
	assert_int_equal(part->n_branches, 1);
	assert_int_equal(part->n_blocks, 1);
	assert_int_equal(part->counters.samples, 3);
	assert_int_equal(part->counters.weight, 30);
	assert_int_equal(part->counters.rows_counted, 5);
	assert_int_equal(part->counters.runs_counted, 6);
	assert_int_equal(part->counters.cycles, 40);
	assert_int_equal(part->counters.rows, 20);
	assert_int_equal(part->counters.lost_samples, 9);
}

static bool is_chosen(const struct profile_process *process, void *userdata)
{
	return process->pid == *(const int32_t *)userdata;
}

static void test_a_process_is_kept_with_all_it_has(void **state)
{
	int32_t first = 10;
	const struct profile_filter filters[] = {
		{ .pid = "10" },
		{ .pid = "9,10" },
		{ .uid = "0,1000" },
		{ .exclude_comm = "x,sec*" },
		{ .unit = "web", .exclude_comm = "second" },
		{ .uid = "1000" },
		{ .comm = "first" },
		{ .unit = "web" },
		{ .unit = "web.service" },
		{ .comm = "none,f*t" },
		{ .comm = "[ef]?rst,x" },
		{ .unit = "db*,w?b" },
		{ .unit = "none,web" },
		{ .unit = "*.service" },
		{ .unit = "web", .container = "-" },
		{ .pid = "10", .unit = "-,web" },
		{ .pid = "10", .uid = "1000", .comm = "first", .unit = "web", .object = "app" },
		{ .chosen = is_chosen, .chosen_of = &first },
		{ .pid = "10,11", .chosen = is_chosen, .chosen_of = &first },
	};
	_cleanup_(profile_freep) struct profile *p = new_fixture();

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		_cleanup_(profile_freep) struct profile *part = filtered(p, filters[i]);

		check_first(part);
	}
}

static void test_a_dash_is_what_has_no_unit(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_fixture();
	_cleanup_(profile_freep) struct profile *all =
		filtered(p, (struct profile_filter){ .pid = "11" });
	_cleanup_(profile_freep) struct profile *part =
		filtered(p, (struct profile_filter){ .pid = "11", .unit = "web,-" });

	assert_int_not_equal(part->counters.samples, 0);
	assert_int_equal(part->counters.samples, all->counters.samples);
}

static void test_conditions_that_hold_nowhere_give_nothing(void **state)
{
	const struct profile_filter filters[] = {
		{ .pid = "1" },
		{ .pid = "1,12,100" },
		{ .uid = "0,999" },
		{ .exclude_comm = "*" },
		{ .container = "*" },
		{ .object = "ap,libc*" },
		{ .symbol = "mai,*x*" },
		{ .uid = "4294967295" }, /* unknown is nobody's */
		{ .comm = "firs" },
		{ .unit = "we" },
		{ .comm = "firs,*x,,irst" },
		{ .unit = "?eb*x,we,web.servic" },
		{ .pid = "11", .unit = "web" },
		{ .pid = "10", .unit = "-" },
		{ .pid = "11", .unit = "*" },
		{ .object = "ap" },
		{ .symbol = "wor" },
		{ .object = "[kernel]", .symbol = "main" },
	};
	_cleanup_(profile_freep) struct profile *p = new_fixture();

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		_cleanup_(profile_freep) struct profile *part = filtered(p, filters[i]);

		assert_int_equal(part->n_processes + part->n_stacks + part->n_streams +
					 part->n_branches + part->n_blocks + part->n_objects +
					 part->n_functions,
				 0);
		assert_int_equal(part->counters.samples, 0);
		assert_int_equal(part->counters.lost_samples, 9);
	}
}

static void test_a_symbol_keeps_its_leaves_with_their_callers(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_fixture();
	struct profile_filter filter = PROFILE_FILTER_INIT;
	_cleanup_(profile_freep) struct profile *part = NULL;

	filter.symbol = "ns::work";
	part = filtered(p, filter);
	assert_int_equal(part->n_stacks, 4);
	assert_int_equal(part->stacks[0].samples, 0); /* main, as a caller */
	assert_int_equal(part->stacks[0].variance, 0);
	assert_int_equal(part->stacks[0].weight, 0);
	assert_int_equal(part->stacks[2].samples, 2);
	assert_int_equal(part->stacks[2].variance, 6);
	assert_int_equal(part->stacks[2].stitched, 1);
	assert_int_equal(part->stacks[2].pruned, 1);
	assert_int_equal(part->n_streams, 4); /* they lead there, from main */
	assert_int_equal(part->counters.streams, 6);
	assert_int_equal(part->counters.samples, 4);
	assert_int_equal(part->counters.weight, 40);
	assert_int_equal(part->n_processes, 2);
	assert_int_equal(part->processes[0].samples, 2);
	assert_int_equal(part->processes[1].samples, 2);
	assert_int_equal(part->n_branches, 2);
	assert_int_equal(part->counters.rows_counted, 10);
	assert_int_equal(part->n_blocks, 2);
	assert_int_equal(part->n_functions, 2);
	assert_int_equal(part->n_objects, 1);
}

static void test_an_object_drops_processes_that_are_not_in_it(void **state)
{
	_cleanup_(profile_freep) struct profile *p = new_fixture();
	struct profile_filter filter = PROFILE_FILTER_INIT;
	_cleanup_(profile_freep) struct profile *part = NULL;

	filter.object = "[kernel]";
	part = filtered(p, filter);
	assert_int_equal(part->n_processes, 1);
	assert_int_equal(part->processes[0].pid, 11);
	assert_int_equal(part->processes[0].samples, 7);
	assert_int_equal(part->n_stacks, 1);
	assert_int_equal(part->n_streams, 0);
	assert_int_equal(part->n_branches, 1); /* into the kernel, from main */
	assert_int_equal(part->n_objects, 2);
	assert_int_equal(part->n_functions, 1);
	assert_int_equal(part->n_blocks, 0);
}

static void test_places_are_lists(void **state)
{
	static const struct {
		struct profile_filter filter;
		uint64_t samples;
	} cases[] = {
		{ { .object = "app" }, 6 },
		{ { .object = "x,a*p" }, 6 },
		{ { .object = "[kernel],libc.so.6" }, 7 },
		{ { .object = "/usr/*,[kernel]" }, 13 },
		{ { .symbol = "main" }, 2 },
		{ { .symbol = "main,ns::work" }, 6 },
		{ { .symbol = "x,ns::*" }, 4 },
		{ { .symbol = "ns::work<int>(int),main" }, 6 },
		{ { .symbol = "m?in", .object = "a*" }, 2 },
	};
	_cleanup_(profile_freep) struct profile *p = new_fixture();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(profile_freep) struct profile *part = filtered(p, cases[i].filter);

		assert_int_equal(part->counters.samples, cases[i].samples);
	}
}

/* Parts by process are disjoint and together the whole. */
static void test_the_parts_of_all_processes_add_up(void **state)
{
	for (uint64_t seed = 1; seed < 50; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		uint64_t taken = 0, runs = 0, samples = 0;

		for (int64_t pid = 0; pid <= 1; pid++) {
			struct profile_filter filter = { .pid = pid == 0 ? "0" : "1" };
			_cleanup_(profile_freep) struct profile *part = filtered(p, filter);

			samples += part->counters.samples;
			taken += part->counters.rows_counted;
			runs += part->counters.runs_counted;
		}
		for (size_t i = 0; i < p->n_stacks; i++)
			if (p->stacks[i].process != PROFILE_NONE &&
			    p->processes[p->stacks[i].process].pid >= 0)
				samples -= p->stacks[i].samples;
		for (size_t i = 0; i < p->n_branches; i++)
			if (p->branches[i].process != PROFILE_NONE &&
			    p->processes[p->branches[i].process].pid >= 0)
				taken -= p->branches[i].taken;
		for (size_t i = 0; i < p->n_blocks; i++)
			if (p->blocks[i].process != PROFILE_NONE &&
			    p->processes[p->blocks[i].process].pid >= 0)
				runs -= p->blocks[i].runs;
		assert_int_equal(samples | taken | runs, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_asked_for_gives_the_whole),
		cmocka_unit_test(test_a_process_is_kept_with_all_it_has),
		cmocka_unit_test(test_a_dash_is_what_has_no_unit),
		cmocka_unit_test(test_conditions_that_hold_nowhere_give_nothing),
		cmocka_unit_test(test_a_symbol_keeps_its_leaves_with_their_callers),
		cmocka_unit_test(test_an_object_drops_processes_that_are_not_in_it),
		cmocka_unit_test(test_places_are_lists),
		cmocka_unit_test(test_the_parts_of_all_processes_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
