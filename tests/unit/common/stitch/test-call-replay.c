/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * New records on the calls below them, of a program whose functions are known exactly: where a call
 * does not follow from the one below, its function has jumped, within calls or out of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/stitch/stitch.h"
#include "common/util/macro.h"

#define PID         7
#define N_REGISTERS 16
#define MAX_CALLS   (4 * N_REGISTERS)
#define BYTES       0x100u

/* Functions by their numbers. */
enum {
	START = 1, /* the outermost one */
	MAIN,
	F,
	G,
	H,
	LONGJMP,
	RESUME,
	STUB,
	COLD_F, /* a part of F that lies apart */
	N_FUNCTIONS,
};

static uint64_t code(unsigned int function, unsigned int offset)
{
	return 0x400000 + function * (uint64_t)BYTES + offset;
}

struct task {
	struct branch_record registers[N_REGISTERS];
	unsigned int newest;
	uint64_t cycles;
	struct stitch *stitch;
	uint64_t callers[MAX_CALLS]; /* the innermost first */
	size_t n_callers;
};

static bool find(void *userdata, int32_t pid, uint64_t address, struct function_range *ret)
{
	static const enum function_kind kinds[N_FUNCTIONS] = {
		[START] = FUNCTION_OUTERMOST, [LONGJMP] = FUNCTION_LEAVES,
		[RESUME] = FUNCTION_RESUMES,  [STUB] = FUNCTION_STUB,
		[COLD_F] = FUNCTION_APART,
	};
	uint64_t function = (address - code(0, 0)) / BYTES;

	assert_int_equal(pid, PID);
	if (function == 0 || function >= N_FUNCTIONS)
		return false;
	*ret = (struct function_range){
		.start = code((unsigned int)function, 0),
		.end = code((unsigned int)function + 1, 0),
		.name = function == COLD_F ? F : function,
		.kind = kinds[function],
	};
	return true;
}

static void begin_with(struct task *t, function_range_finder finder)
{
	const struct stitch_settings settings = { .depth = N_REGISTERS, .find_function = finder };

	*t = (struct task){};
	assert_int_equal(stitch_new(&t->stitch, &settings), 0);
}

static void begin(struct task *t)
{
	begin_with(t, find);
}

static void end(struct task *t)
{
	stitch_free(t->stitch);
}

/* A call at an offset of a function. */
static void call(struct task *t, unsigned int function, unsigned int offset, unsigned int to)
{
	t->newest = (t->newest + 1) % N_REGISTERS;
	t->registers[t->newest] = (struct branch_record){
		.from = code(function, offset),
		.to = code(to, 0),
		.flags = ++t->cycles << 4,
	};
}

static void pop(struct task *t)
{
	t->registers[t->newest] = (struct branch_record){};
	t->newest = (t->newest + N_REGISTERS - 1) % N_REGISTERS;
}

static void sample(struct task *t, unsigned int function, unsigned int offset)
{
	struct branch_record rows[N_REGISTERS];
	struct event e = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID };
	struct stitched s;

	for (unsigned int i = 0; i < N_REGISTERS; i++) {
		rows[i] = t->registers[(t->newest + N_REGISTERS - i) % N_REGISTERS];
		if (rows[i].from == 0)
			break;
		e.sample.n_rows++;
	}
	e.sample.has_rows = e.sample.call_stack = e.sample.has_hw_idx = true;
	e.sample.hw_idx = t->newest;
	e.sample.rows = rows;
	assert_int_equal(stitch_add(t->stitch, &e, code(function, offset), &s), 0);
	assert_true(s.n_callers <= MAX_CALLS);
	t->n_callers = s.n_callers;
	for (size_t i = 0; i < s.n_callers; i++)
		t->callers[i] = s.callers[s.n_callers - 1 - i].from;
}

#define assert_callers(t, ...)                                             \
	do {                                                               \
		const uint64_t _expected[] = { __VA_ARGS__ };              \
                                                                           \
		assert_int_equal((t)->n_callers, ARRAY_SIZE(_expected));   \
		for (size_t _i = 0; _i < ARRAY_SIZE(_expected); _i++)      \
			assert_int_equal((t)->callers[_i], _expected[_i]); \
	} while (0)

static void calls_that_follow_from_one_another(void **state)
{
	struct task t;

	begin(&t);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, F);
	sample(&t, F, 4);
	assert_callers(&t, code(MAIN, 8), code(START, 8));
	call(&t, F, 8, G);
	call(&t, G, 8, H);
	sample(&t, H, 4);
	assert_callers(&t, code(G, 8), code(F, 8), code(MAIN, 8), code(START, 8));
	end(&t);
}

/* F jumps to G as its last act, and G calls H. */
static void a_tail_call_keeps_its_caller(void **state)
{
	struct task t;

	begin(&t);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, F);
	call(&t, G, 8, H);
	sample(&t, H, 4);
	assert_callers(&t, code(G, 8), code(MAIN, 8), code(START, 8));
	/* and on calls that are remembered */
	pop(&t);
	sample(&t, G, 20);
	assert_callers(&t, code(MAIN, 8), code(START, 8));
	end(&t);
}

/* It jumps to what it was called for. */
static void a_stub_keeps_its_caller(void **state)
{
	struct task t;

	begin(&t);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, STUB);
	call(&t, G, 8, STUB);
	sample(&t, H, 4);
	assert_callers(&t, code(G, 8), code(MAIN, 8), code(START, 8));
	end(&t);
}

static void a_part_apart_is_its_function(void **state)
{
	struct task t;

	begin(&t);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, F);
	call(&t, COLD_F, 8, G);
	sample(&t, G, 4);
	assert_callers(&t, code(COLD_F, 8), code(MAIN, 8), code(START, 8));
	end(&t);
}

/* MAIN goes on after a longjmp() in H. */
static void a_longjmp_leaves_calls(void **state)
{
	struct task t;

	begin(&t);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, F);
	call(&t, F, 8, G);
	call(&t, G, 8, H);
	sample(&t, H, 4);
	assert_int_equal(t.n_callers, 4);
	call(&t, H, 8, LONGJMP);
	sample(&t, LONGJMP, 4);
	assert_int_equal(t.n_callers, 5);
	call(&t, MAIN, 20, F);
	sample(&t, F, 4);
	assert_callers(&t, code(MAIN, 20), code(START, 8));
	/* what was left does not come back */
	call(&t, F, 30, H);
	sample(&t, H, 4);
	assert_callers(&t, code(F, 30), code(MAIN, 20), code(START, 8));
	end(&t);
}

/* The same in one snapshot: nothing was known before. */
static void a_longjmp_among_the_records(void **state)
{
	struct task t;

	begin(&t);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, F);
	call(&t, F, 8, G);
	call(&t, G, 8, LONGJMP);
	call(&t, F, 20, H);
	sample(&t, H, 4);
	assert_callers(&t, code(F, 20), code(MAIN, 8), code(START, 8));
	end(&t);
}

/* _Unwind_Resume() leaves the function that called it, too: the topmost F is not the one. */
static void a_throw_goes_on_below_its_cleanup(void **state)
{
	struct task t;

	begin(&t);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, F);
	call(&t, F, 8, G);
	call(&t, G, 8, F);
	call(&t, F, 40, RESUME);
	call(&t, F, 20, H);
	sample(&t, H, 4);
	assert_callers(&t, code(F, 20), code(MAIN, 8), code(START, 8));
	end(&t);
}

/* The function that goes on was never called, as far as is known. */
static void where_a_jump_goes_to_may_be_unknown(void **state)
{
	struct task t;

	begin(&t);
	call(&t, F, 8, G);
	call(&t, G, 8, LONGJMP);
	call(&t, MAIN, 20, H);
	sample(&t, H, 4);
	assert_callers(&t, code(MAIN, 20));
	end(&t);
}

static bool find_nothing(void *userdata, int32_t pid, uint64_t address, struct function_range *ret)
{
	return false;
}

/* It may be a tail call, or a jump out of G: what is below is left short, never guessed. */
static void without_ranges_the_stack_is_short(void **state)
{
	struct task t;

	begin_with(&t, find_nothing);
	call(&t, START, 8, MAIN);
	call(&t, MAIN, 8, F);
	call(&t, F, 8, G);
	sample(&t, G, 4);
	assert_int_equal(t.n_callers, 3);
	call(&t, MAIN, 20, F);
	sample(&t, F, 4);
	assert_true(t.n_callers >= 1);
	assert_int_equal(t.callers[0], code(MAIN, 20));
	assert_true(t.n_callers == 1 || t.callers[1] == code(START, 8));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_follow_from_one_another),
		cmocka_unit_test(a_tail_call_keeps_its_caller),
		cmocka_unit_test(a_stub_keeps_its_caller),
		cmocka_unit_test(a_part_apart_is_its_function),
		cmocka_unit_test(a_longjmp_leaves_calls),
		cmocka_unit_test(a_longjmp_among_the_records),
		cmocka_unit_test(a_throw_goes_on_below_its_cleanup),
		cmocka_unit_test(where_a_jump_goes_to_may_be_unknown),
		cmocka_unit_test(without_ranges_the_stack_is_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
