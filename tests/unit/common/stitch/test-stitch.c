/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stitching against a model: what is said of a stack must be true; where all was shown, all must be
 * said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"
#include "tests/support/stack-model.h"

static void start(struct model *m)
{
	const struct stitch_settings settings = { .depth = DEPTH, .max_tasks = 2 };

	assert_int_equal(model_init(m, &settings), 0);
}

/* How many of the callers are told, which must be right. */
static size_t check(struct model *m)
{
	struct stitched s;

	assert_int_equal(sample_of(m, PID, &s), 0);
	assert_true(s.n_callers <= m->n_calls);
	for (size_t i = 0; i < s.n_callers; i++)
		assert_int_equal(stitched_caller(&s, i), m->calls[m->n_calls - 1 - i]);
	return s.n_callers;
}

static void descend(struct model *m, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		call(m, (unsigned int)m->n_calls + 1);
		check(m);
	}
}

static void stacks_deeper_than_the_registers_are_whole(void **state)
{
	struct model m;

	start(&m);
	for (unsigned int i = 0; i < 40; i++) {
		call(&m, i + 1);
		assert_int_equal(check(&m), m.n_calls);
	}
	stitch_free(m.stitch);
}

static void callers_are_remembered_when_the_registers_run_empty(void **state)
{
	struct model m;

	start(&m);
	descend(&m, 40);
	while (m.n_calls > 1) {
		leave(&m);
		assert_int_equal(check(&m), m.n_calls);
	}
	stitch_free(m.stitch);
}

/* Cycles are not recorded: what is called again is not told from before. */
static void call_alike(struct model *m, uint64_t from, unsigned int function)
{
	call(m, function);
	m->registers[m->newest].from = m->calls[m->n_calls - 1] = from;
	m->registers[m->newest].flags = 0;
}

static void call_in_turn(struct model *m, unsigned int first, unsigned int last)
{
	for (unsigned int i = first; i <= last; i++) {
		call_alike(m, m->functions[m->n_calls] + 0x10, i);
		assert_int_equal(check(m), m->n_calls);
	}
}

/* Code is mapped over some of them, which are then called as before. */
static void what_was_forgotten_is_learnt_again(void **state)
{
	for (int has_index = 0; has_index <= 1; has_index++) {
		struct model m;

		start(&m);
		m.has_index = has_index;
		call_in_turn(&m, 1, 7);
		map_code(&m, 5, 3);
		for (int i = 0; i < 4; i++) {
			while (m.n_calls > 4)
				leave(&m);
			assert_int_equal(check(&m), m.n_calls);
			call_in_turn(&m, 5, 7);
		}
		stitch_free(m.stitch);
	}
}

/* A call that returned, when another function stood below it: made by this one it is seen for the
 * first time. */
static void a_call_upon_another_is_another(void **state)
{
	const struct stitch_settings settings = { .depth = DEPTH, .is_wiped = true };
	struct model m;

	assert_int_equal(model_init(&m, &settings), 0);
	m.has_index = false;
	call_alike(&m, function_at(0) + 0x10, 1);
	call_alike(&m, function_at(1) + 0x10, 10);
	m.functions[m.n_calls] = function_at(12); /* by a jump */
	call_alike(&m, function_at(12) + 0x50, 20);
	check(&m);
	leave(&m);
	leave(&m);
	call_alike(&m, function_at(1) + 0x20, 12);
	assert_int_equal(check(&m), 2);
	call_alike(&m, function_at(12) + 0x50, 20);
	assert_int_equal(check(&m), 3);
	memset(m.registers, 0, sizeof(m.registers));
	leave(&m);
	call_alike(&m, function_at(12) + 0x50, 20);
	assert_int_equal(check(&m), 3);
	call_alike(&m, function_at(20) + 0x20, 30);
	assert_int_equal(check(&m), 4);
	stitch_free(m.stitch);
}

static void without_an_index_rows_in_common_decide(void **state)
{
	struct model m;

	start(&m);
	m.has_index = false;
	for (unsigned int i = 0; i < 30; i++) {
		call(&m, i + 1);
		if (m.n_calls > 3)
			assert_int_equal(check(&m), m.n_calls);
	}
	for (; m.n_calls > 30 - DEPTH + 4; leave(&m))
		assert_int_equal(check(&m), m.n_calls);
	for (; m.n_calls > 1; leave(&m))
		check(&m);
	stitch_free(m.stitch);
}

static void nothing_is_added_where_nothing_is_in_common(void **state)
{
	struct model m;

	start(&m);
	descend(&m, 5);
	while (m.n_calls > 0)
		leave(&m);
	for (unsigned int i = 0; i < 21; i++)
		call(&m, 50 + i);
	assert_int_equal(check(&m), DEPTH);
	stitch_free(m.stitch);
}

static void exec_exit_and_a_number_used_again_end_a_stack(void **state)
{
	static const enum event_kind kinds[] = { EVENT_COMM, EVENT_EXIT, EVENT_FORK };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct model m;

		start(&m);
		descend(&m, 30);
		assert_int_equal(check(&m), 30);
		apply(&m, kinds[i], true);
		assert_int_equal(check(&m), DEPTH);
		stitch_free(m.stitch);
	}
}

static void rows_from_before_an_exec_are_no_callers(void **state)
{
	struct model m;

	start(&m);
	descend(&m, 6);
	m.n_calls = 0;
	m.functions[0] = function_at(40);
	apply(&m, EVENT_COMM, true);
	map_code(&m, 40, 20);
	call(&m, 41);
	assert_int_equal(check(&m), 1);
	leave(&m);
	assert_int_equal(check(&m), 0);
	call(&m, 42);
	assert_int_equal(check(&m), 1);
	stitch_free(m.stitch);
}

static void a_change_of_name_does_not(void **state)
{
	struct model m;

	start(&m);
	descend(&m, 30);
	apply(&m, EVENT_COMM, false);
	assert_int_equal(check(&m), 30);
	stitch_free(m.stitch);
}

static void tasks_not_sampled_for_longest_are_forgotten(void **state)
{
	struct stitched s;
	struct model m;

	start(&m);
	descend(&m, 30);
	(void)sample_of(&m, PID + 1, &s);
	(void)sample_of(&m, PID + 2, &s);
	assert_int_equal(stitch_get_counters(m.stitch)->evicted, 1);
	assert_int_equal(check(&m), DEPTH);
	stitch_free(m.stitch);
}

static void a_jump_out_does_not_leave_its_callers(void **state)
{
	struct stitched s;
	struct model m;

	start(&m);
	descend(&m, 20);
	m.n_calls = 3; /* the registers keep what was jumped out of */
	(void)sample_of(&m, PID, &s);
	assert_true(s.n_callers <= 3);
	for (size_t i = 0; i < s.n_callers; i++)
		assert_int_equal(stitched_caller(&s, i), m.calls[2 - i]);
	stitch_free(m.stitch);
}

/* A part of the function called last lies behind another, that is in the stack: it was not jumped
 * out to. */
static void a_jump_into_code_behind_another_function_leaves_the_callers(void **state)
{
	struct model m;

	start(&m);
	descend(&m, 6);
	m.functions[6] = function_at(3) + 0x80;
	check(&m);
	m.functions[6] = function_at(6);
	leave(&m);
	call(&m, 10);
	assert_int_equal(check(&m), m.n_calls);
	stitch_free(m.stitch);
}

/* Any calls and returns, sampled now and then: what is said is true. Functions call each but one
 * other. */
static void what_is_said_is_true(void **state)
{
	uint64_t random = 1;
	size_t said = 0, true_callers = 0;
	struct model m;

	start(&m);
	for (unsigned int i = 0; i < 20000; i++) {
		if (m.n_calls > 0 && (m.n_calls == 60 || next_random(&random) % 2))
			leave(&m);
		else
			call(&m, (unsigned int)m.n_calls + 1);
		if (next_random(&random) % 3)
			continue;
		said += check(&m);
		true_callers += m.n_calls;
	}
	assert_true(said > true_callers / 2);
	stitch_free(m.stitch);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_deeper_than_the_registers_are_whole),
		cmocka_unit_test(callers_are_remembered_when_the_registers_run_empty),
		cmocka_unit_test(what_was_forgotten_is_learnt_again),
		cmocka_unit_test(a_call_upon_another_is_another),
		cmocka_unit_test(without_an_index_rows_in_common_decide),
		cmocka_unit_test(nothing_is_added_where_nothing_is_in_common),
		cmocka_unit_test(exec_exit_and_a_number_used_again_end_a_stack),
		cmocka_unit_test(rows_from_before_an_exec_are_no_callers),
		cmocka_unit_test(a_change_of_name_does_not),
		cmocka_unit_test(tasks_not_sampled_for_longest_are_forgotten),
		cmocka_unit_test(a_jump_out_does_not_leave_its_callers),
		cmocka_unit_test(a_jump_into_code_behind_another_function_leaves_the_callers),
		cmocka_unit_test(what_is_said_is_true),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
