/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/stack/stack.h"
#include "client/top/share.h"
#include "client/top/shares.h"
#include "client/view/branch.h"
#include "client/view/place.h"
#include "client/view/view.h"
#include "common/profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "/usr/lib/libdemo.so.1"

/*
 * Two processes of one program, which calls a library:
 *
 *   4711  main (0x1010) -> work (0x1110) -> work (0x1120) -> libdemo spin (0x2010)   7 samples
 *                                                         \  work (0x1130)           2 samples
 *   4712  main (0x1010) -> work (0x1110) -> libdemo spin (0x2014)                    5 samples
 *                       -> nothing known (0x9999)                                    1 sample
 */
struct demo {
	struct profile *profile;
	uint32_t program, library; /* indices; void once finalized */
	uint32_t processes[2];
};

static uint32_t added(int64_t r)
{
	assert_true(r >= 0);
	return (uint32_t)r;
}

static uint32_t add_object(struct profile *p, const char *path, uint8_t build_id)
{
	return added(profile_add_object(p, &(struct profile_object){
						   .kind = OBJECT_FILE,
						   .path = path,
						   .build_id = { build_id },
						   .n_build_id = 20,
					   }));
}

static uint32_t add_process(struct profile *p, int32_t pid, const char *unit, uint64_t samples)
{
	return added(profile_add_process(p, &(struct profile_process){
						    .pid = pid,
						    .comm = "demo",
						    .executable = "/usr/bin/demo",
						    .unit = unit,
						    .uid = UINT32_MAX,
						    .samples = samples,
					    }));
}

static void add_function(struct profile *p, uint32_t object, uint64_t start, const char *name)
{
	added(profile_add_function(p, &(struct profile_function){
					      .object = object,
					      .start = start,
					      .size = 0x100,
					      .name = name,
				      }));
}

static uint32_t add_frame(struct profile *p, uint32_t process, uint32_t parent, uint32_t object,
			  uint64_t offset, uint64_t samples)
{
	p->counters.samples += samples;
	return added(profile_add_stack(p, &(struct profile_stack){
						  .process = process,
						  .parent = parent,
						  .frame = { object, offset },
						  .samples = samples,
						  .weight = samples,
					  }));
}

static void add_first_stacks(struct demo *demo)
{
	struct profile *p = demo->profile;
	uint32_t process = demo->processes[0], frame;

	frame = add_frame(p, process, PROFILE_NONE, demo->program, 0x1010, 0);
	frame = add_frame(p, process, frame, demo->program, 0x1110, 0);
	add_frame(p, process, frame, demo->program, 0x1130, 2);
	frame = add_frame(p, process, frame, demo->program, 0x1120, 0);
	add_frame(p, process, frame, demo->library, 0x2010, 7);
}

static void add_second_stacks(struct demo *demo)
{
	struct profile *p = demo->profile;
	uint32_t process = demo->processes[1], root, frame;

	root = add_frame(p, process, PROFILE_NONE, demo->program, 0x1010, 0);
	frame = add_frame(p, process, root, demo->program, 0x1110, 0);
	add_frame(p, process, frame, demo->library, 0x2014, 5);
	add_frame(p, process, root, PROFILE_NONE, 0x9999, 1);
}

static void add_rows(struct demo *demo, uint32_t process, uint64_t n)
{
	struct profile_branch branch = {
		.process = process,
		.from = { demo->program, 0x1120 },
		.to = { demo->library, 0x2000 },
		.taken = n,
		.mispredicted = n / 2,
		.cycles = 10 * n,
		.cycles_rows = n,
	};
	struct profile_block block = {
		.process = process,
		.object = demo->library,
		.start = 0x2000,
		.end = 0x2020,
		.runs = n,
		.cycles = 3 * n,
		.cycles_rows = n,
	};

	added(profile_add_branch(demo->profile, &branch));
	branch.from.offset = 0x1124;
	branch.taken = n + 1;
	added(profile_add_branch(demo->profile, &branch));
	added(profile_add_block(demo->profile, &block));
	block.start = 0x2008;
	block.runs = 2 * n; /* more often, but of fewer cycles */
	block.cycles = n;
	added(profile_add_block(demo->profile, &block));
}

static int setup(void **state)
{
	struct demo *demo = calloc(1, sizeof(*demo));

	assert_non_null(demo);
	assert_int_equal(profile_new(&demo->profile), 0);
	demo->program = add_object(demo->profile, "/usr/bin/demo", 1);
	demo->library = add_object(demo->profile, LIBRARY, 2);
	demo->processes[0] = add_process(demo->profile, 4711, "demo.service", 9);
	demo->processes[1] = add_process(demo->profile, 4712, NULL, 6);
	add_function(demo->profile, demo->program, 0x1000, "main");
	add_function(demo->profile, demo->program, 0x1100, "work(std::vector<int> const&)");
	add_function(demo->profile, demo->library, 0x2000, "spin");
	add_first_stacks(demo);
	add_second_stacks(demo);
	add_rows(demo, demo->processes[0], 10);
	add_rows(demo, demo->processes[1], 20);
	assert_int_equal(profile_finalize(demo->profile), 0);
	*state = demo;
	return 0;
}

static int teardown(void **state)
{
	struct demo *demo = *state;

	profile_free(demo->profile);
	free(demo);
	return 0;
}

static void assert_share(const struct share *share, const char *symbol, uint64_t self,
			 uint64_t total)
{
	if (symbol)
		assert_string_equal(share->key.symbol, symbol);
	else
		assert_null(share->key.symbol);
	assert_int_equal(share->self, self);
	assert_int_equal(share->total, total);
}

static void test_functions_count_a_sample_once_in_recursion(void **state)
{
	const struct demo *demo = *state;
	_cleanup_(shares_freep) struct shares *shares = NULL;

	assert_int_equal(view_functions(&shares, demo->profile), 0);
	assert_int_equal(shares->n_rows, 4);
	assert_share(&shares->rows[0], "spin", 12, 12);
	assert_share(&shares->rows[1], "work(std::vector<int> const&)", 2, 14);
	assert_share(&shares->rows[2], NULL, 1, 1);
	assert_int_equal(shares->rows[2].key.object, PROFILE_NONE);
	assert_share(&shares->rows[3], "main", 0, 15);
}

static void test_functions_of_one_name_are_distinct(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(shares_freep) struct shares *shares = NULL;
	uint32_t object, process;

	assert_int_equal(profile_new(&p), 0);
	object = add_object(p, "/usr/bin/demo", 1);
	process = add_process(p, 1, NULL, 5);
	add_function(p, object, 0x1000, "init");
	add_function(p, object, 0x3000, "init");
	add_frame(p, process, PROFILE_NONE, object, 0x1001, 2);
	add_frame(p, process, PROFILE_NONE, object, 0x3001, 3);
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(view_functions(&shares, p), 0);
	assert_int_equal(shares->n_rows, 2);
	assert_share(&shares->rows[0], "init", 3, 3);
	assert_share(&shares->rows[1], "init", 2, 2);
}

static void test_objects_add_up_what_lies_in_them(void **state)
{
	const struct demo *demo = *state;
	_cleanup_(shares_freep) struct shares *shares = NULL;

	assert_int_equal(view_shares(&shares, VIEW_OBJECT, demo->profile, NULL, false), 0);
	assert_int_equal(shares->n_rows, 3);
	assert_string_equal(demo->profile->objects[shares->rows[0].key.object].path, LIBRARY);
	assert_share(&shares->rows[0], NULL, 12, 12);
	assert_share(&shares->rows[1], NULL, 2, 15);
	assert_share(&shares->rows[2], NULL, 1, 1);
}

static void test_processes_and_units_have_all_their_samples(void **state)
{
	const struct demo *demo = *state;
	_cleanup_(shares_freep) struct shares *processes = NULL;
	_cleanup_(shares_freep) struct shares *units = NULL;

	assert_int_equal(view_shares(&processes, VIEW_PROCESS, demo->profile, NULL, false), 0);
	assert_int_equal(processes->n_rows, 2);
	assert_share(&processes->rows[0], NULL, 9, 9);
	assert_share(&processes->rows[1], NULL, 6, 6);
	assert_int_equal(demo->profile->processes[processes->rows[0].key.process].pid, 4711);

	assert_int_equal(view_shares(&units, VIEW_UNIT, demo->profile, NULL, false), 0);
	assert_int_equal(units->n_rows, 2);
	assert_string_equal(units->rows[0].key.group, "demo.service");
	assert_null(units->rows[1].key.group);
	assert_share(&units->rows[1], NULL, 6, 6);
}

static void test_lines_without_debug_information_are_their_objects(void **state)
{
	const struct demo *demo = *state;
	_cleanup_(symbolizer_freep) struct symbolizer *symbolizer = NULL;
	_cleanup_(shares_freep) struct shares *shares = NULL;
	_cleanup_(shares_freep) struct shares *functions = NULL;

	assert_int_equal(symbolizer_new(&symbolizer, &(struct symbolizer_settings){}), 0);
	assert_int_equal(view_lines(&shares, demo->profile, symbolizer, true), 0);
	assert_int_equal(shares->n_rows, 3);
	assert_null(shares->rows[0].key.file);
	assert_share(&shares->rows[0], NULL, 12, 12);

	assert_int_equal(view_functions_inlined(&functions, demo->profile, symbolizer), 0);
	assert_int_equal(functions->n_rows, 4);
	assert_share(&functions->rows[1], "work(std::vector<int> const&)", 2, 14);
}

static void test_stacks_of_processes_are_merged(void **state)
{
	const struct demo *demo = *state;
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = NULL;
	const struct view_stack_caller *caller;

	assert_int_equal(view_stacks(&stacks, demo->profile), 0);
	assert_int_equal(stacks->n_rows, 4);
	assert_int_equal(stacks->rows[0].samples, 7);
	assert_int_equal(stacks->rows[0].leaf.offset, 0x2000); /* all of spin() */
	caller = &stacks->callers[stacks->rows[0].caller];
	assert_int_equal(caller->frame.offset, 0x1120);
	caller = &stacks->callers[caller->parent];
	assert_int_equal(caller->frame.offset, 0x1110);
	caller = &stacks->callers[caller->parent];
	assert_int_equal(caller->frame.offset, 0x1010);
	assert_int_equal(caller->parent, PROFILE_NONE);

	/* the second process's frames are the first one's */
	assert_int_equal(stacks->n_callers, 3);
	assert_int_equal(stacks->rows[1].samples, 5);
	assert_int_equal(stacks->callers[stacks->rows[1].caller].frame.offset, 0x1110);
	assert_int_equal(stacks->rows[3].leaf.object, PROFILE_NONE);
	assert_int_equal(stacks->rows[3].leaf.offset, 0x9999);
}

static void test_a_stack_adds_up_its_leaf_function(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = NULL;
	uint32_t object, root;

	assert_int_equal(profile_new(&p), 0);
	object = add_object(p, "/usr/bin/demo", 1);
	add_process(p, 1, NULL, 5);
	add_function(p, object, 0x1100, "work");
	root = add_frame(p, 0, PROFILE_NONE, object, 0x1010, 0);
	add_frame(p, 0, root, object, 0x1104, 2);
	add_frame(p, 0, root, object, 0x1108, 3);
	add_frame(p, 0, PROFILE_NONE, object, 0x1108, 4); /* another caller: none */
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(view_stacks(&stacks, p), 0);
	assert_int_equal(stacks->n_rows, 2);
	assert_int_equal(stacks->rows[0].samples, 5);
	assert_int_equal(stacks->rows[1].samples, 4);
	assert_int_equal(stacks->rows[1].caller, PROFILE_NONE);
}

static void test_branches_add_up_over_processes(void **state)
{
	const struct demo *demo = *state;
	struct profile_branch *rows = NULL;
	size_t n = 0;

	assert_int_equal(view_branches(&rows, &n, demo->profile), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].from.offset, 0x1124);
	assert_int_equal(rows[0].taken, 32);
	assert_int_equal(rows[0].process, PROFILE_NONE);
	assert_int_equal(rows[1].taken, 30);
	assert_int_equal(rows[1].mispredicted, 15);
	assert_int_equal(rows[1].cycles, 300);
	assert_int_equal(rows[1].cycles_rows, 30);
	free(rows);
}

static void test_branches_add_up_by_functions(void **state)
{
	const struct demo *demo = *state;
	struct profile_branch rows[] = {
		{ .from = { 0, 0x1120 }, .to = { 1, 0x2000 }, .taken = 1, .cycles = 3 },
		{ .from = { 0, 0x1004 }, .to = { 0, 0x1100 }, .taken = 2 },
		{ .from = { 0, 0x11ff }, .to = { 1, 0x20ff }, .taken = 3, .cycles = 4 },
		{ .from = { 0, 0x5000 }, .to = { 0, 0x6000 }, .taken = 1 },
		{ .from = { 0, 0x5001 }, .to = { 0, 0x6000 }, .taken = 1 },
	};

	assert_int_equal(view_pair_functions(rows, ARRAY_SIZE(rows), demo->profile), 4);
	assert_int_equal(rows[0].from.offset, 0x1100);
	assert_int_equal(rows[0].to.offset, 0x2000);
	assert_int_equal(rows[0].taken, 4);
	assert_int_equal(rows[0].cycles, 7);
	assert_int_equal(rows[1].from.offset, 0x1000);
	assert_int_equal(rows[2].from.offset, 0x5000); /* in no function */
	assert_int_equal(rows[3].from.offset, 0x5001);
	assert_int_equal(view_pair_functions(rows, 0, demo->profile), 0);
}

/* As many mispredictions say less where one that was sampled counts as several. */
static void test_estimating_lowers_the_bound_of_mispredictions(void **state)
{
	const struct profile_branch all = { .taken = 120, .mispredicted = 50, .predicted = 50 };
	const struct profile_branch some = {
		.taken = 120, .mispredicted = 50, .predicted = 50, .variance = 120
	};
	const struct profile_counters counters = { .samples = 1000 };
	const struct profile_counters estimated = { .samples = 1000, .samples_variance = 1000 };

	assert_float_equal(view_branch_surely(&counters, &all), 0.4038315, 1e-6);
	assert_float_equal(view_branch_surely(&counters, &some), 0.3664451, 1e-6);
	assert_float_equal(view_branch_surely(&estimated, &all), 0.3664451, 1e-6);
}

static void test_blocks_are_sorted_by_cycles(void **state)
{
	const struct demo *demo = *state;
	struct profile_block *rows = NULL;
	size_t n = 0;

	assert_int_equal(view_blocks(&rows, &n, demo->profile), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].start, 0x2000);
	assert_int_equal(rows[0].cycles, 90);
	assert_int_equal(rows[0].runs, 30);
	assert_int_equal(rows[1].runs, 60);
	assert_int_equal(view_block_cycles(demo->profile), 120);
	free(rows);
}

static void test_blocks_without_cycles_are_sorted_by_runs(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct profile_block block = { .process = PROFILE_NONE, .start = 0x10, .end = 0x20 };
	struct profile_block *rows = NULL;
	size_t n = 0;

	assert_int_equal(profile_new(&p), 0);
	block.object = add_object(p, "/usr/bin/demo", 1);
	block.runs = 3;
	added(profile_add_block(p, &block));
	block.start = 0x14;
	block.runs = 4;
	added(profile_add_block(p, &block));
	assert_int_equal(profile_finalize(p), 0);

	assert_int_equal(view_blocks(&rows, &n, p), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].runs, 4);
	assert_int_equal(rows[1].runs, 3);
	free(rows);
}

static void test_an_empty_profile_has_no_rows(void **state)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(shares_freep) struct shares *shares = NULL;
	_cleanup_(view_stacks_freep) struct view_stacks *stacks = NULL;
	struct profile_branch *branches = NULL;
	struct profile_block *blocks = NULL;
	size_t n = 1;

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_finalize(p), 0);
	assert_int_equal(view_functions(&shares, p), 0);
	assert_int_equal(shares->n_rows, 0);
	assert_int_equal(view_stacks(&stacks, p), 0);
	assert_int_equal(stacks->n_rows, 0);
	assert_int_equal(view_branches(&branches, &n, p), 0);
	assert_int_equal(n, 0);
	assert_int_equal(view_blocks(&blocks, &n, p), 0);
	assert_int_equal(n, 0);
	free(branches);
	free(blocks);
}

static void assert_place(const struct profile *p, struct location at, const char *want)
{
	struct places places = { .profile = p };
	struct place place = place_find(&places, at);
	char *text = place_format(&place);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void test_names_of_places(void **state)
{
	const struct demo *demo = *state;
	const struct profile *p = demo->profile;
	uint32_t library = strcmp(p->objects[0].path, LIBRARY) == 0 ? 0 : 1;

	assert_place(p, (struct location){ library, 0x2014 }, "spin+0x14");
	assert_place(p, (struct location){ library, 0x5000 }, "libdemo.so.1+0x5000");
	assert_place(p, (struct location){ PROFILE_NONE, 0x7f0012345678 }, "0x7f0012345678");
}

static void test_names_of_views(void **state)
{
	enum view_by by;

	for (int i = 0; i < N_VIEWS; i++) {
		assert_int_equal(view_parse(&by, view_name((enum view_by)i)), 0);
		assert_int_equal(by, i);
	}
	assert_int_equal(view_parse(&by, "functions"), -EINVAL);
}

#define DEMO_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEMO_TEST(test_functions_count_a_sample_once_in_recursion),
		DEMO_TEST(test_objects_add_up_what_lies_in_them),
		DEMO_TEST(test_processes_and_units_have_all_their_samples),
		DEMO_TEST(test_lines_without_debug_information_are_their_objects),
		DEMO_TEST(test_stacks_of_processes_are_merged),
		DEMO_TEST(test_branches_add_up_over_processes),
		DEMO_TEST(test_branches_add_up_by_functions),
		DEMO_TEST(test_estimating_lowers_the_bound_of_mispredictions),
		DEMO_TEST(test_blocks_are_sorted_by_cycles),
		DEMO_TEST(test_names_of_places),
		cmocka_unit_test(test_functions_of_one_name_are_distinct),
		cmocka_unit_test(test_a_stack_adds_up_its_leaf_function),
		cmocka_unit_test(test_blocks_without_cycles_are_sorted_by_runs),
		cmocka_unit_test(test_an_empty_profile_has_no_rows),
		cmocka_unit_test(test_names_of_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
