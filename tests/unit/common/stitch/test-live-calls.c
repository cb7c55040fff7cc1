/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks that unwinding leaves short, of a task whose truth is known: its memory, the calls that it
 * is in, and the registers of the hardware, which keep calls that were left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>

#include "common/stitch/stack.h"
#include "common/util/macro.h"

#define PID         7
#define N_STACKS    2
#define N_WORDS     512
#define FRAME_WORDS 4
#define MAX_CALLS   100
#define N_REGISTERS 16
#define CALL_BYTES  5

static uint64_t function_at(unsigned int i)
{
	return 0x400000 + 0x100 * (uint64_t)i;
}

struct frames {
	uint64_t words[N_WORDS];
	size_t sp;
	uint64_t calls[MAX_CALLS]; /* the outermost first */
	size_t n_calls;
	uint64_t functions[MAX_CALLS + 1];
};

struct task {
	struct frames stacks[N_STACKS], *now;
	struct branch_record registers[N_REGISTERS];
	unsigned int newest;
	struct stitch *stitch;
	struct stack stack;
};

static void begin(struct task *t)
{
	const struct stitch_settings settings = { .depth = N_REGISTERS };

	*t = (struct task){ .now = &t->stacks[0] };
	for (unsigned int i = 0; i < N_STACKS; i++) {
		t->stacks[i].sp = N_WORDS;
		t->stacks[i].functions[0] = function_at(200 + i);
	}
	assert_int_equal(stitch_new(&t->stitch, &settings), 0);
}

static void end(struct task *t)
{
	stitch_free(t->stitch);
	stack_done(&t->stack);
}

/* Of the function running now, function @i is called. */
static void call(struct task *t, unsigned int i)
{
	struct frames *now = t->now;
	uint64_t from = now->functions[now->n_calls] + 0x10 + i;

	now->sp -= FRAME_WORDS;
	now->words[now->sp] = from + CALL_BYTES;
	now->calls[now->n_calls++] = from;
	now->functions[now->n_calls] = function_at(i);
	t->newest = (t->newest + 1) % N_REGISTERS;
	t->registers[t->newest] = (struct branch_record){ from, function_at(i), 0x20 };
}

static void call_all(struct task *t, unsigned int first, unsigned int last)
{
	for (unsigned int i = first; i <= last; i++)
		call(t, i);
}

static void pop_register(struct task *t)
{
	t->registers[t->newest] = (struct branch_record){};
	t->newest = (t->newest + N_REGISTERS - 1) % N_REGISTERS;
}

/* The memory keeps what it has, as does the hardware. */
static void jump_out(struct task *t, size_t n_calls)
{
	t->now->n_calls = n_calls;
	t->now->sp = N_WORDS - n_calls * FRAME_WORDS;
}

static void leave(struct task *t)
{
	jump_out(t, t->now->n_calls - 1);
	pop_register(t);
}

/* How a sample is taken. */
struct how {
	enum sample_unwound unwound;
	size_t n_found; /* callers that unwinding has found */
	size_t n_words; /* of the stack; 0: all */
};

static void take(struct task *t, const struct how *how)
{
	const struct frames *now = t->now;
	uint64_t chain[2 + MAX_CALLS] = { PERF_CONTEXT_USER, now->functions[now->n_calls] + 4 };
	struct branch_record rows[N_REGISTERS];
	size_t n_words = how->n_words ? how->n_words : N_WORDS - now->sp;
	struct event e = {
		.kind = EVENT_SAMPLE,
		.pid = PID,
		.tid = PID,
		.sample = {
			.ip = chain[1],
			.has_rows = true,
			.call_stack = true,
			.has_hw_idx = true,
			.hw_idx = t->newest,
			.rows = rows,
			.callchain = chain,
			.n_callchain = 2 + (uint32_t)how->n_found,
			.user_stack = (const uint8_t *)&now->words[now->sp],
			.n_user_stack = (uint32_t)(n_words * sizeof(uint64_t)),
			.unwound = how->unwound,
			.n_unwound = (uint32_t)(how->n_found * FRAME_WORDS * sizeof(uint64_t)),
		},
	};
	struct sample *s = &e.sample;

	for (size_t i = 0; i < how->n_found; i++)
		chain[2 + i] = now->calls[now->n_calls - 1 - i] + CALL_BYTES;
	for (unsigned int i = 0; i < N_REGISTERS; i++) {
		rows[i] = t->registers[(t->newest + N_REGISTERS - i) % N_REGISTERS];
		if (rows[i].from == 0)
			break;
		s->n_rows++;
	}
	assert_int_equal(stack_fill(&t->stack, t->stitch, &e), 0);
}

/* How many callers the stack has, which must be right. */
static size_t count_right(const struct task *t)
{
	const struct frames *now = t->now;

	assert_true(t->stack.n >= 1);
	assert_int_equal(t->stack.frames[0].address, now->functions[now->n_calls] + 4);
	assert_true(t->stack.n - 1 <= now->n_calls);
	for (size_t i = 1; i < t->stack.n; i++)
		assert_in_range(t->stack.frames[i].place, now->calls[now->n_calls - i],
				now->calls[now->n_calls - i] + CALL_BYTES - 1);
	return t->stack.n - 1;
}

#define assert_callers(t, n, ...)                      \
	do {                                           \
		take(t, &(struct how){ __VA_ARGS__ }); \
		assert_int_equal(count_right(t), n);   \
	} while (0)

/* A sample whose stack is not known otherwise has wrong callers: those that were left. */
static void assert_records_are_wrong(struct task *t)
{
	size_t n = 0;

	take(t, &(struct how){ .unwound = SAMPLE_NOT_UNWOUND });
	for (size_t i = 1; i < t->stack.n && i <= t->now->n_calls; i++)
		n += t->stack.frames[i].address == t->now->calls[t->now->n_calls - i];
	assert_true(n < t->stack.n - 1);
}

static void code_without_a_table_is_completed(void **state)
{
	struct task t;

	begin(&t);
	call_all(&t, 1, 10);
	assert_callers(&t, 10, .unwound = SAMPLE_UNWOUND_PART);
	assert_callers(&t, 10, .unwound = SAMPLE_UNWOUND_PART, .n_found = 1);
	assert_callers(&t, 10, .unwound = SAMPLE_UNWOUND_PART, .n_found = 9);
	assert_callers(&t, 10, .unwound = SAMPLE_UNWOUND_PART, .n_found = 10);
	end(&t);
}

/* More calls than registers: the outermost are remembered, and verified all the same. */
static void remembered_calls_are_counted(void **state)
{
	struct task t;

	begin(&t);
	for (unsigned int i = 1; i <= 40; i++) {
		call(&t, i);
		assert_callers(&t, i, .unwound = SAMPLE_UNWOUND_PART, .n_found = i / 2);
	}
	assert_int_equal(t.stack.n_stitched, 20);
	assert_callers(&t, 40, .unwound = SAMPLE_UNWOUND_PART, .n_found = 5);
	assert_int_equal(t.stack.n_stitched, 40 - N_REGISTERS);
	assert_callers(&t, 40, .unwound = SAMPLE_UNWOUND_PART, .n_found = 30);
	assert_int_equal(t.stack.n_stitched, 10);

	/* those of a stack that was complete, too */
	call(&t, 41);
	assert_callers(&t, 41, .unwound = SAMPLE_UNWOUND_WHOLE, .n_found = 41);
	assert_int_equal(t.stack.n_stitched, 0);
	call_all(&t, 42, 41 + N_REGISTERS - 1);
	assert_callers(&t, 41 + N_REGISTERS - 1, .unwound = SAMPLE_UNWOUND_PART);
	end(&t);
}

static void what_a_longjmp_left_is_dropped(void **state)
{
	struct task t;

	begin(&t);
	call_all(&t, 1, 3);
	for (unsigned int i = 0; i < 5; i++)
		call(&t, 3);
	assert_callers(&t, 8, .unwound = SAMPLE_UNWOUND_PART);
	jump_out(&t, 3); /* the same function goes on */
	call_all(&t, 21, 22);
	assert_records_are_wrong(&t);
	/* unwound to the end: the records do not count */
	assert_callers(&t, 5, .unwound = SAMPLE_UNWOUND_WHOLE, .n_found = 5);
	/* the two new ones lie in the stack; then comes one that was left */
	assert_callers(&t, 2, .unwound = SAMPLE_UNWOUND_PART);
	/* where unwinding has passed it, the others lie there again */
	assert_callers(&t, 5, .unwound = SAMPLE_UNWOUND_PART, .n_found = 3);
	/* but are not believed where the stack cannot be seen */
	assert_callers(&t, 3, .unwound = SAMPLE_UNWOUND_COPY, .n_found = 3,
		       .n_words = 3 * FRAME_WORDS);
	assert_callers(&t, 2, .unwound = SAMPLE_UNWOUND_COPY, .n_found = 2,
		       .n_words = 2 * FRAME_WORDS);
	end(&t);
}

/* The unwinder that runs for a throw returns to the handler: that pops a record. */
static void what_an_exception_left_is_dropped(void **state)
{
	struct task t;

	begin(&t);
	call_all(&t, 1, 8);
	call_all(&t, 50, 53); /* __cxa_throw, and what it calls */
	assert_callers(&t, 12, .unwound = SAMPLE_UNWOUND_PART);
	jump_out(&t, 4);
	pop_register(&t);
	call(&t, 60); /* __cxa_begin_catch */
	assert_callers(&t, 5, .unwound = SAMPLE_UNWOUND_WHOLE, .n_found = 5);
	assert_callers(&t, 1, .unwound = SAMPLE_UNWOUND_PART);
	assert_callers(&t, 2, .unwound = SAMPLE_UNWOUND_PART, .n_found = 2);
	leave(&t);
	assert_callers(&t, 0, .unwound = SAMPLE_UNWOUND_PART);
	end(&t);
}

/* Both stacks of coroutines are in the same registers. */
static void calls_on_another_stack_are_dropped(void **state)
{
	struct task t;

	begin(&t);
	call_all(&t, 1, 6);
	assert_callers(&t, 6, .unwound = SAMPLE_UNWOUND_PART);
	t.now = &t.stacks[1];
	t.now->functions[0] = function_at(6); /* the function that runs on the other one */
	call_all(&t, 31, 33);
	assert_records_are_wrong(&t);
	assert_callers(&t, 3, .unwound = SAMPLE_UNWOUND_PART);
	assert_callers(&t, 3, .unwound = SAMPLE_UNWOUND_WHOLE, .n_found = 3);
	assert_callers(&t, 3, .unwound = SAMPLE_UNWOUND_PART, .n_found = 2);
	t.now = &t.stacks[0];
	call(&t, 7);
	assert_callers(&t, 1, .unwound = SAMPLE_UNWOUND_PART);
	assert_callers(&t, 7, .unwound = SAMPLE_UNWOUND_WHOLE, .n_found = 7);
	t.now = &t.stacks[1];
	leave(&t); /* pops a record of the other one */
	assert_callers(&t, 0, .unwound = SAMPLE_UNWOUND_PART);
	end(&t);
}

static void a_stack_goes_on_behind_its_copy(void **state)
{
	struct task t;

	begin(&t);
	for (unsigned int i = 1; i <= 30; i++) {
		call(&t, i);
		assert_callers(&t, i, .unwound = SAMPLE_UNWOUND_COPY, .n_found = i / 2,
			       .n_words = i / 2 * FRAME_WORDS + 1);
	}
	/* The walk ended for another reason: only what was copied counts. */
	assert_callers(&t, 12, .unwound = SAMPLE_UNWOUND_PART, .n_found = 4,
		       .n_words = 12 * FRAME_WORDS);
	end(&t);
}

/* A stack that cannot be read any more, or code whose table is not there yet. */
static void records_alone_complete_no_stack(void **state)
{
	struct task t;

	begin(&t);
	call_all(&t, 1, 10);
	assert_callers(&t, 0, .unwound = SAMPLE_UNWOUND_SHORT);
	assert_callers(&t, 3, .unwound = SAMPLE_UNWOUND_SHORT, .n_found = 3);
	/* but are remembered */
	call_all(&t, 11, 20);
	assert_callers(&t, 20, .unwound = SAMPLE_UNWOUND_PART);
	end(&t);
}

/* Unwinding has found a caller that made no call: a signal handler's, for example. */
static void a_chain_without_records_stays_alone(void **state)
{
	struct task t;

	begin(&t);
	call_all(&t, 1, 6);
	t.registers[t.newest].from += 0x40;
	assert_callers(&t, 3, .unwound = SAMPLE_UNWOUND_PART, .n_found = 3);
	end(&t);
}

/* It comes after samples that were taken later: stitching must not see it. */
static void a_late_sample_stays_as_it_is(void **state)
{
	struct task t, before;

	begin(&t);
	call_all(&t, 1, 30);
	before = t;
	call_all(&t, 31, 31 + N_REGISTERS / 2);
	assert_callers(&t, N_REGISTERS, .unwound = SAMPLE_UNWOUND_PART);
	before.now = &before.stacks[0];
	call_all(&before, 70, 90);
	take(&before, &(struct how){ .unwound = SAMPLE_UNWOUND_LATE, .n_found = 4 });
	assert_int_equal(count_right(&before), 4);
	stack_done(&before.stack);
	call(&t, 60);
	assert_callers(&t, N_REGISTERS + 1, .unwound = SAMPLE_UNWOUND_PART);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_without_a_table_is_completed),
		cmocka_unit_test(remembered_calls_are_counted),
		cmocka_unit_test(what_a_longjmp_left_is_dropped),
		cmocka_unit_test(what_an_exception_left_is_dropped),
		cmocka_unit_test(calls_on_another_stack_are_dropped),
		cmocka_unit_test(a_stack_goes_on_behind_its_copy),
		cmocka_unit_test(records_alone_complete_no_stack),
		cmocka_unit_test(a_chain_without_records_stays_alone),
		cmocka_unit_test(a_late_sample_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
