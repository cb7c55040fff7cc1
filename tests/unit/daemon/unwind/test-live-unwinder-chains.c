/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples that have call chains or branch records beside their stack: see live-scene.h. */
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

static void others_keep_the_call_chain_that_they_have(void **state)
{
	struct live_unwinder_counts counts;
	struct wanted_table wanted;
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	scene.taken.event.sample.user_is_32_bit = true;
	scene.taken.event.sample.n_callchain = 2;
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 0, 1, PERF_CONTEXT_USER, CODE + LEAF);
	live_scene_take_in_kernel(&scene, 2);
	scene.taken.event.sample.user_is_32_bit = true;
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 1, 2, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100);

	/* without registers: the kernel has walked frame pointers */
	live_scene_take(&scene, 3, CODE);
	scene.taken.event.sample.user_registers = NULL;
	scene.taken.event.sample.user_registers_mask = 0;
	scene.taken.event.sample.n_user_stack = 0;
	scene.taken.event.sample.n_callchain = 2;
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 2, 3, PERF_CONTEXT_USER, CODE + LEAF);
	assert_counts(&scene, 0, 0);
	live_unwinder_get_counts(scene.unwinder, &counts);
	assert_int_equal(counts.n_32_bit, 2);
	assert_false(table_exchange_take_wanted(scene.exchange, &wanted));
	live_scene_done(&scene);
}

/* And says how far each stack was walked. */
static void a_sample_waits_with_its_branch_records(void **state)
{
	struct branch_record row = { .from = 1, .to = 2 };
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	scene.taken.event.sample.rows = &row;
	scene.taken.event.sample.n_rows = 1;
	assert_int_equal(live_scene_add(&scene), 0);
	assert_int_equal(scene.n_given, 0);
	row.from = 3;
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);
	assert_given(&scene, 0, 1, USER_STACK);
	assert_int_equal(scene.given[0].unwound, SAMPLE_UNWOUND_LATE);
	assert_int_equal(scene.given[0].row, 1);

	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 1, 1, USER_STACK);
	assert_int_equal(scene.given[1].unwound, SAMPLE_UNWOUND_WHOLE);
	assert_int_equal(scene.given[1].row, 3);
	live_scene_done(&scene);
}

/* The copy ends, or there is code without a table. */
static void a_stack_may_go_on_behind_the_call_chain(void **state)
{
	static uint64_t stack[BPF_SAMPLE_MAX_STACK / sizeof(uint64_t)];
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);

	scene.taken.event.sample.n_user_stack -= 8; /* of MIDDLE */
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 1, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, CODE + MIDDLE + 5);
	assert_int_equal(scene.given[1].unwound, SAMPLE_UNWOUND_SHORT); /* there was no room */
	memcpy(stack, scene.taken.stack, sizeof(scene.taken.stack));
	stack[1] = CODE + LARGE + 5;
	scene.taken.event.sample.user_stack = (const uint8_t *)stack;
	scene.taken.event.sample.n_user_stack = sizeof(stack);
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 2, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, CODE + LARGE + 5);
	assert_int_equal(scene.given[2].unwound, SAMPLE_UNWOUND_COPY);
	assert_int_equal(scene.given[2].n_unwound, 16); /* LEAF has as much */

	live_scene_take(&scene, 1, LIBRARY);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 8, false);
	live_scene_update(&scene);
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 4, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5);
	assert_int_equal(scene.given[4].unwound, SAMPLE_UNWOUND_PART);
	assert_int_equal(scene.given[4].n_unwound, 16);
	live_scene_done(&scene);
}

/* No branch record tells it: the table is not there yet, it cannot be right, or the stack is gone.
 */
static void the_rest_of_a_stack_may_be_unknown(void **state)
{
	struct wanted_table wanted;
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take(&scene, 1, CODE);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);

	live_scene_take_in_kernel(&scene, 2);
	scene.taken.event.sample.n_user_stack = 0;
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 1, 2, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100);
	assert_int_equal(scene.given[1].unwound, SAMPLE_UNWOUND_SHORT);

	live_scene_take(&scene, 1, CODE);
	scene.taken.stack[1] = 1;
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 2, 1, PERF_CONTEXT_USER, CODE + LEAF + 3);
	assert_int_equal(scene.given[2].unwound, SAMPLE_UNWOUND_SHORT);

	live_scene_take(&scene, 1, LIBRARY);
	assert_int_equal(live_scene_add(&scene), 0);
	for (size_t i = 0; i < 100 && scene.n_given == 3; i++) { /* it cannot be had for long */
		if (table_exchange_take_wanted(scene.exchange, &wanted))
			table_exchange_put_built(
				scene.exchange,
				&(struct built_table){ .id = wanted.id, .later = true });
		live_scene_update(&scene);
	}
	assert_int_equal(scene.given[3].unwound, SAMPLE_UNWOUND_LATE);
	assert_int_equal(live_scene_add(&scene), 0);
	assert_given(&scene, 4, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5);
	assert_int_equal(scene.given[4].unwound, SAMPLE_UNWOUND_SHORT);
	live_scene_done(&scene);
}

static void a_call_chain_of_any_length(void **state)
{
	struct live_scene scene;

	live_scene_init(&scene);
	live_scene_take_in_kernel(&scene, 1);
	for (size_t i = 1; i < ARRAY_SIZE(scene.taken.chain); i++)
		scene.taken.chain[i] = KERNEL + i;
	scene.taken.chain[ARRAY_SIZE(scene.taken.chain) - 1] = PERF_CONTEXT_USER;
	scene.taken.event.sample.n_callchain = ARRAY_SIZE(scene.taken.chain);
	assert_int_equal(live_scene_add(&scene), 0);
	live_scene_answer(&scene, 7, true);
	live_scene_update(&scene);
	assert_int_equal(scene.n_given, 1);
	assert_int_equal(scene.given[0].n, BPF_SAMPLE_MAX_FRAMES + 1 + 4);
	assert_int_equal(scene.given[0].chain[BPF_SAMPLE_MAX_FRAMES],
			 KERNEL + BPF_SAMPLE_MAX_FRAMES);
	assert_int_equal(scene.given[0].chain[BPF_SAMPLE_MAX_FRAMES + 1], PERF_CONTEXT_USER);
	live_scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_keep_the_call_chain_that_they_have),
		cmocka_unit_test(a_sample_waits_with_its_branch_records),
		cmocka_unit_test(a_stack_may_go_on_behind_the_call_chain),
		cmocka_unit_test(the_rest_of_a_stack_may_be_unknown),
		cmocka_unit_test(a_call_chain_of_any_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
