/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the builder makes of call chains and of the call-stack mode's rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "tests/support/builder-window.h"

/* Asserts that the frames of the only leaf are @frames, from it to the outermost. */
static void check_stack(const struct profile *p, const uint64_t *frames, size_t n)
{
	const struct profile_stack *s = NULL;

	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].samples > 0)
			s = &p->stacks[i];
	assert_int_equal(p->n_stacks, n);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(s);
		assert_int_equal(s->frame.offset, frames[i]);
		assert_int_equal(s->weight, i == 0 ? 10 : 0);
		s = s->parent == PROFILE_NONE ? NULL : &p->stacks[s->parent];
	}
	assert_null(s);
}

/* A return address less one lies in the call; the leaf, and where the kernel was entered, are no
 * such. */
static void test_frames_of_a_call_chain(void **state)
{
	static const uint64_t user[] = { PERF_CONTEXT_USER, CODE + 0x10, CODE + 0x20, CODE + 0x30 };
	static const uint64_t user_frames[] = { 0x10, 0x1f, 0x2f };
	static const uint64_t both[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010,
					 0xffffffff81000020,  PERF_CONTEXT_USER,
					 CODE + 0x10,         0,
					 CODE + 0x20 };
	static const uint64_t both_frames[] = { 0xffffffff81000010, 0xffffffff8100001f, 0x10,
						0x1f };
	static const uint64_t bare[] = { CODE + 0x10, CODE + 0x20 };
	static const uint64_t bare_frames[] = { 0x10, 0x1f };
	static const uint64_t empty[] = { PERF_CONTEXT_USER };
	static const uint64_t empty_frames[] = { 0 }; /* the sample's own address */
	static const struct {
		const uint64_t *chain, *frames;
		uint32_t n_chain, n_frames;
	} cases[] = {
		{ user, user_frames, 4, 3 },  { both, both_frames, 7, 4 },
		{ bare, bare_frames, 2, 2 },  { empty, empty_frames, 1, 1 },
		{ NULL, empty_frames, 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct window w;

		window_open(&w);
		add_chain(&w, cases[i].chain, cases[i].n_chain);
		check_stack(close_window(&w), cases[i].frames, cases[i].n_frames);
		window_done(&w);
	}
}

/* main called f at 0x10, which called g at 0x30. */
static const struct branch_record calls[] = {
	{ CODE + 0x30, CODE + 0x40, 0 },
	{ CODE + 0x10, CODE + 0x20, 0 },
};

static void add_call_stack(struct window *w, uint64_t ip, const uint64_t *chain, uint32_t n)
{
	add_sample(w, (struct sample){ .ip = ip,
				       .has_rows = true,
				       .call_stack = true,
				       .rows = calls,
				       .n_rows = ARRAY_SIZE(calls),
				       .callchain = chain,
				       .n_callchain = n });
}

static void test_rows_of_the_call_stack_mode_are_no_branches(void **state)
{
	struct window w;

	window_open(&w);
	add_call_stack(&w, CODE + 0x48, NULL, 0);
	close_window(&w);
	assert_int_equal(w.profile->counters.samples, 1);
	assert_int_equal(w.profile->counters.samples_call_stack, 1);
	assert_int_equal(w.profile->counters.rows_call_stack, 2);
	assert_int_equal(w.profile->counters.runs_call_stack, 1);
	assert_int_equal(w.profile->n_branches, 0);
	window_done(&w);
}

static void test_rows_of_the_call_stack_mode_are_the_callers(void **state)
{
	static const uint64_t path[] = { 0x48, 0x30, 0x10 };
	static const uint64_t chain[] = { PERF_CONTEXT_USER, CODE + 0x48, CODE + 0x77 };
	struct window w;

	window_open(&w);
	add_call_stack(&w, CODE + 0x48, NULL, 0);
	check_stack(close_window(&w), path, 3);
	add_call_stack(&w, CODE + 0x48, chain, 3); /* the frame pointers' callers are left out */
	check_stack(close_window(&w), path, 3);
	window_done(&w);
}

static void test_the_kernel_is_called_from_a_call_stack(void **state)
{
	const uint64_t kernel = 0xffffffff81000000;
	const uint64_t both[] = { PERF_CONTEXT_KERNEL, kernel + 0x100, kernel + 0x51,
				  PERF_CONTEXT_USER, CODE + 0x48 };
	const uint64_t known[] = { kernel + 0x100, kernel + 0x50, 0x48, 0x30, 0x10 };
	const uint64_t entry[] = { kernel + 0x100, kernel + 0x50, 0x40, 0x30, 0x10 };
	const uint64_t alone[] = { kernel + 0x100, 0x40, 0x30, 0x10 };
	struct window w;

	window_open(&w);
	add_call_stack(&w, kernel + 0x100, both, 5);
	check_stack(close_window(&w), known, 5);
	add_call_stack(&w, kernel + 0x100, both, 3); /* where the user's code was is not known */
	check_stack(close_window(&w), entry, 5);
	add_call_stack(&w, kernel + 0x100, NULL, 0);
	check_stack(close_window(&w), alone, 4);
	window_done(&w);
}

#define MAX_FRAMES 4096u
#define N_STACKS   20000u
#define N_FEW      (MAX_FRAMES / 3) /* two thirds of the limit are nodes of them */

/* A sample at one of three places, with a caller of its own: two nodes. */
static void add_distinct(struct window *w, uint64_t i)
{
	const uint64_t chain[] = { PERF_CONTEXT_USER, CODE + i % 3, CODE + 0x1001 + 16 * i };

	add_chain(w, chain, 3);
}

/* Whoever flushes in time loses less than who waits until the tree is full; and a window of any
 * length has a limit. */
static void test_a_window_does_not_grow_without_end(void **state)
{
	const struct builder_settings settings = { .max_frames = MAX_FRAMES };
	uint64_t n_pruned[2];

	for (int flushes = 0; flushes < 2; flushes++) {
		const struct profile *p;
		struct window w;

		window_init(&w, &settings);
		for (uint64_t i = 0; i < N_STACKS; i++) {
			add_distinct(&w, i % (N_STACKS / 2));
			if (flushes && builder_is_filling(w.builder))
				assert_int_equal(builder_flush(w.builder, w.processes, 0), 0);
		}
		p = close_window(&w);
		assert_int_equal(p->counters.samples, N_STACKS);
		assert_in_range(p->n_stacks, MAX_FRAMES / 2, MAX_FRAMES / 4 * 5);
		n_pruned[flushes] = p->counters.stacks_pruned;
		window_done(&w);
	}
	assert_in_range(n_pruned[1], 1, n_pruned[0] - 1);
}

/* Nothing is lost in a window that is not full, however often it is flushed. */
static void test_a_flush_in_time_loses_nothing(void **state)
{
	const struct builder_settings settings = { .max_frames = MAX_FRAMES };
	const struct profile *p;
	struct window w;
	int n_flushes = 0;

	window_init(&w, &settings);
	for (uint64_t i = 0; i < 10 * N_FEW; i++) {
		add_distinct(&w, i % N_FEW);
		if (!builder_is_filling(w.builder))
			continue;
		assert_int_equal(builder_flush(w.builder, w.processes, 0), 0);
		n_flushes++;
	}
	p = close_window(&w);
	assert_in_range(n_flushes, 2, 100);
	assert_int_equal(p->counters.stacks_pruned, 0);
	assert_int_equal(p->n_stacks, 2 * N_FEW);
	window_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_of_a_call_chain),
		cmocka_unit_test(test_rows_of_the_call_stack_mode_are_no_branches),
		cmocka_unit_test(test_rows_of_the_call_stack_mode_are_the_callers),
		cmocka_unit_test(test_the_kernel_is_called_from_a_call_stack),
		cmocka_unit_test(test_a_window_does_not_grow_without_end),
		cmocka_unit_test(test_a_flush_in_time_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
