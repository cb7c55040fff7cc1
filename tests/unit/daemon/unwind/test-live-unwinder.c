/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When samples are given out, with which stacks: see live-scene.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "tests/support/live-scene.h"

static void a_sample_waits_for_its_table(void **state)
{
	struct live_unwinder_counts counts;
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	assert_int_equal(live_scene_add(&scene), 0);
	memset(&scene.taken, 0xee, sizeof(scene.taken)); /* the ring is used again */
	live_scene_take_in_kernel(&scene, 2);
	scene.taken.registers[AT_FP] =
		0; /* this is the stack's end only where no table says more */
	assert_int_equal(live_scene_add(&scene), 0);
	assert_int_equal(scene.n_given, 0);
	live_scene_update(&scene);
	assert_int_equal(scene.n_given, 0);

	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);
	assert_int_equal(scene.n_given, 2);
	assert_given(&scene, 0, 1, USER_STACK);
	assert_given(&scene, 1, 2, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100, USER_STACK);
	assert_counts(&scene, 2, 2);
	live_unwinder_get_counts(scene.unwinder, &counts);
	assert_int_equal(counts.n_tables, 1);
	assert_true(counts.table_bytes > 0);

	/* the next one does not */
	live_scene_take(&scene, 3, CODE);
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 2, 3, USER_STACK);
	assert_counts(&scene, 3, 2);
	live_scene_done(&scene);
}

/* Then for the next one that it leads through. */
static void a_sample_waits_for_all_its_tables(void **state)
{
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, LIBRARY);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);
	assert_int_equal(scene.n_given, 0);
	live_scene_answer(&scene, 8, true);
	live_scene_update(&scene);
	assert_int_equal(scene.n_given, 1);
	assert_given(&scene, 0, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5,
		     CODE + OUTER + 9);
	assert_counts(&scene, 1, 1);
	live_scene_done(&scene);
}

/* What has no table is walked by the frame pointer, which is none here. */
static void a_file_without_a_table_cuts_the_stack(void **state)
{
	struct live_unwinder_counts counts;
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, false);
	live_scene_update(&scene);
	assert_given(&scene, 0, 1, PERF_CONTEXT_USER, CODE + LEAF + 3);
	assert_int_equal(scene.n_given, 1);
	live_unwinder_get_counts(scene.unwinder, &counts);
	assert_int_equal(counts.ended[UNWIND_NO_TABLE], 1);
	live_scene_done(&scene);
}

static void code_without_a_table_is_walked_by_the_frame_pointer(void **state)
{
	struct live_unwinder_counts counts;
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	scene.taken.registers[AT_FP] = STACK;
	scene.taken.stack[0] = STACK + 32;
	scene.taken.stack[4] = 0; /* the outermost frame pointer */
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, false);
	live_scene_update(&scene);
	assert_given(&scene, 0, 1, USER_STACK);
	live_unwinder_get_counts(scene.unwinder, &counts);
	assert_int_equal(counts.ended[UNWIND_COMPLETE], 1);
	assert_int_equal(counts.n_by_fp, 2);
	live_scene_done(&scene);
}

static void flush_gives_all_out(void **state)
{
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, LIBRARY);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_take_in_kernel(&scene, 2);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);
	assert_int_equal(scene.n_given, 1); /* the second needs no other table */
	assert_int_equal(live_unwinder_flush(scene.unwinder, scene.processes), 0);
	assert_int_equal(scene.n_given, 2);
	assert_given(&scene, 1, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5);
	assert_int_equal(live_unwinder_flush(scene.unwinder, scene.processes), 0);
	live_scene_answer(&scene, 8, true);
	live_scene_update(&scene);
	assert_int_equal(scene.n_given, 2); /* each once */
	live_scene_done(&scene);
}

static void the_oldest_that_do_not_fit_are_given_out(void **state)
{
	static uint8_t stack[BPF_SAMPLE_MAX_STACK];
	struct live_scene scene;
	size_t n = 0;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, LIBRARY);
	memcpy(stack, scene.taken.stack, sizeof(scene.taken.stack));
	scene.taken.event.sample.user_stack = stack;
	scene.taken.event.sample.n_user_stack = sizeof(stack);
	for (; scene.n_given == 0 && n < 1000; n++) {
		scene.taken.event.tid = (int32_t)n;
		assert_int_equal(live_scene_add(&scene), 0);
	}
	assert_in_range(n, 128, 256); /* of 8 MiB, 32 KiB each */
	assert_in_range(scene.n_given, n / 4 - 2, n / 4 + 2);
	n = scene.n_given;
	assert_given(&scene, (n - 1) % MAX_GIVEN, (int)n - 1, PERF_CONTEXT_USER, CODE + LEAF + 3);
	assert_int_equal(live_scene_add(&scene), 0);
	assert_int_equal(scene.n_given, n); /* there is room again */
	live_scene_done(&scene);
}

/* Whose stack is gone: the process is ending. */
static void in_the_kernel_without_stack_bytes_there_is_no_user_part(void **state)
{
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take_in_kernel(&scene, 1);
	scene.taken.event.sample.n_user_stack = 0;
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 0, 1, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100);
	assert_counts(&scene, 0, 0);

	/* in user code the leaf is known */
	live_scene_take(&scene, 2, CODE);
	scene.taken.event.sample.n_user_stack = 0;
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);
	assert_given(&scene, 1, 2, PERF_CONTEXT_USER, CODE + LEAF + 3);
	live_scene_done(&scene);
}

static void errors_of_the_handler_come_back(void **state)
{
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	assert_int_equal(live_scene_add(&scene), 0);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, true);
	scene.result = -ENOMEM;
	assert_int_equal(live_unwinder_update(scene.unwinder, scene.processes), -ENOMEM);
	assert_int_equal(live_scene_add(&scene), -ENOMEM);
	assert_int_equal(live_unwinder_flush(scene.unwinder, scene.processes), -ENOMEM);
	live_scene_done(&scene);
}

/* A sample keeps its meaning when its process runs another program. */
static void what_was_sampled_is_of_the_program_before_an_exec(void **state)
{
	const struct event exec = {
		.kind = EVENT_COMM, .pid = PID, .tid = PID, .comm = { .comm = "y", .exec = true }
	};
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	assert_int_equal(live_scene_add(&scene), 0);
	assert_int_equal(processes_apply(scene.processes, &exec), 0);
	live_scene_map(&scene, CODE, 8);
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);
	assert_given(&scene, 0, 1, USER_STACK);
	live_scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_waits_for_its_table),
		cmocka_unit_test(a_sample_waits_for_all_its_tables),
		cmocka_unit_test(a_file_without_a_table_cuts_the_stack),
		cmocka_unit_test(code_without_a_table_is_walked_by_the_frame_pointer),
		cmocka_unit_test(flush_gives_all_out),
		cmocka_unit_test(the_oldest_that_do_not_fit_are_given_out),
		cmocka_unit_test(in_the_kernel_without_stack_bytes_there_is_no_user_part),
		cmocka_unit_test(errors_of_the_handler_come_back),
		cmocka_unit_test(what_was_sampled_is_of_the_program_before_an_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
