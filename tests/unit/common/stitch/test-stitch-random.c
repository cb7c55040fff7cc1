/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stitching against a machine that does all that unsettles it: longjmp, coroutines, signals, exec,
 * another task of the same number, lost samples, and rows that are wiped. It is a hard one: eight
 * registers, functions that are called from many places, and such an event every 500 calls and
 * returns.
 *
 * What is said must be true but for the share of the samples that WRONG_MAX states. Rows that are
 * left in the registers and are none of the stack's, after the first three kinds of events, are
 * believed too often; what is asserted of those is that it gets no worse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/stitch/task.h"
#include "tests/support/random.h"
#include "tests/support/stack-model.h"

#define N_STEPS 100000
#define N_MARKS (1u << 20)
#define RARELY  500 /* steps from one such event to the next */

enum trouble { NONE, LONGJMP, COROUTINE, SIGNAL, EXEC, REUSE, LOST, WIPE, N_TROUBLES };

/* In a thousand samples, with an index and without. */
static const unsigned int WRONG_MAX[N_TROUBLES][2] = {
	[NONE] = { 15, 2 },    [LONGJMP] = { 200, 40 }, [COROUTINE] = { 150, 50 },
	[SIGNAL] = { 45, 30 }, [EXEC] = { 25, 40 },     [REUSE] = { 20, 60 },
	[LOST] = { 20, 5 },    [WIPE] = { 5, 5 },
};

struct machine {
	struct model model;
	struct model other; /* the other coroutine: its stack alone */
	uint64_t random;
	unsigned int image;
	size_t said, wrong, callers, n_events;
	uint64_t paths[N_MARKS]; /* of each mark a hash of the calls it was set upon */
	uint32_t n_marks;
	uint64_t n_cleared; /* times that all marks were */
};

static unsigned int below(struct machine *m, unsigned int n)
{
	return (unsigned int)(next_random(&m->random) % n);
}

/* Three callees each; now and then one that goes back, and recurses. */
static void call_something(struct machine *m)
{
	struct model *t = &m->model;
	unsigned int function = (unsigned int)((t->functions[t->n_calls] - function_at(0)) / 0x100);
	unsigned int site = below(m, 3);

	call(t, m->image * 64 + (site == 0 && function % 7 == 0 ? function % 64 / 2 :
								  (function + 1 + 5 * site) % 64));
}

static void begin_anew(struct machine *m)
{
	m->model.n_calls = 0;
	m->model.functions[0] = function_at(m->image * 64);
}

static void change_stacks(struct machine *m)
{
	struct model t = m->model;

	memcpy(m->model.calls, m->other.calls, sizeof(t.calls));
	memcpy(m->model.functions, m->other.functions, sizeof(t.functions));
	m->model.n_calls = m->other.n_calls;
	m->other = t;
}

/* A handler is called by no row, but returns. It calls as many as it returns from. */
static void handle_signal(struct machine *m)
{
	size_t depth = m->model.n_calls;
	uint64_t function = m->model.functions[depth];

	m->model.functions[depth] = function_at(m->image * 64 + 63);
	for (unsigned int i = below(m, 10); i > 0; i--)
		call_something(m);
	while (m->model.n_calls > depth)
		leave(&m->model);
	m->model.functions[depth] = function;
	pop(&m->model);
}

static void cause(struct machine *m, enum trouble trouble)
{
	struct model *t = &m->model;

	m->n_events++;
	switch (trouble) {
	case LONGJMP:
		if (t->n_calls > 0)
			t->n_calls = below(m, (unsigned int)t->n_calls);
		return;
	case COROUTINE:
		change_stacks(m);
		return;
	case SIGNAL:
		handle_signal(m);
		return;
	case EXEC:
		m->image = 1 - m->image;
		begin_anew(m);
		apply(t, EVENT_COMM, true);
		map_code(t, m->image * 64, 64);
		return;
	case REUSE:
		memset(t->registers, 0, sizeof(t->registers));
		begin_anew(m);
		apply(t, EVENT_EXIT, false);
		return;
	case LOST:
		apply(t, EVENT_LOST, false);
		for (unsigned int i = below(m, 100); i > 0; i--)
			if (t->n_calls == 0 || (t->n_calls < 60 && below(m, 2)))
				call_something(m);
			else
				leave(t);
		return;
	case WIPE:
		memset(t->registers, 0, sizeof(t->registers));
		t->newest = below(m, DEPTH);
		return;
	default:
		return;
	}
}

/* A mark is that of the very calls that it was set upon. */
static void check_marks(struct machine *m, const struct stitched *s)
{
	uint64_t path = 0;
	bool is_new = false;

	if (m->n_marks + s->n_callers >= N_MARKS) {
		m->n_marks = 0;
		m->n_cleared++;
	}
	for (size_t i = 0; i < s->n_callers; i++) {
		struct stitched_call *call = &s->callers[i];

		path = (path + call->from) * 0x9e3779b97f4a7c15ull;
		if (*s->marker != m->n_cleared + 1)
			call->mark.node = 0;
		is_new |= call->mark.node == 0;
		if (!is_new)
			assert_int_equal(m->paths[call->mark.node], path);
		else
			m->paths[call->mark.node = ++m->n_marks] = path;
	}
	if (s->n_callers > 0)
		*s->marker = m->n_cleared + 1;
}

static void sample(struct machine *m)
{
	const struct model *t = &m->model;
	struct stitched s;
	size_t n = 0;

	assert_int_equal(sample_of(&m->model, PID, &s), 0);
	while (n < s.n_callers && n < t->n_calls &&
	       stitched_caller(&s, n) == t->calls[t->n_calls - 1 - n])
		n++;
	assert_true(s.n_callers <= TASK_MAX_ROWS + TASK_MAX_LEVELS);
	assert_true(s.n_stitched <= s.n_callers);
	check_marks(m, &s);
	m->wrong += n < s.n_callers;
	m->said += n;
	m->callers += t->n_calls;
}

static void run(struct machine *m, enum trouble trouble, unsigned int sparse, bool has_index)
{
	const struct stitch_settings settings = { .depth = DEPTH, .is_wiped = trouble == WIPE };
	bool down = false;
	size_t n_samples = 0;

	*m = (struct machine){ .random = 11 * (uint64_t)trouble + sparse };
	assert_int_equal(model_init(&m->model, &settings), 0);
	m->model.has_index = has_index;
	m->other.functions[0] = function_at(40);
	for (unsigned int i = 0; i < N_STEPS; i++) {
		/* mostly on in the direction that it goes in */
		down = below(m, 8) == 0 ? !down : down;
		if (m->model.n_calls == 0 || (m->model.n_calls < 60 && !down))
			call_something(m);
		else
			leave(&m->model);
		if (trouble != NONE && below(m, RARELY) == 0)
			cause(m, trouble);
		if (below(m, sparse) == 0) {
			sample(m);
			n_samples++;
		}
	}
	print_message("trouble %d, one of %u, %s: %zu of %zu wrong\n", trouble, sparse,
		      has_index ? "index" : "no index", m->wrong, n_samples);
	if (m->wrong * 1000 > WRONG_MAX[trouble][!has_index] * n_samples)
		fail_msg("trouble %d, 1 of %u: %zu of %zu wrong", trouble, sparse, m->wrong,
			 n_samples);
	assert_true(m->n_events > 0 || trouble == NONE);
	/* what was marked is not new */
	assert_true(trouble != NONE || m->n_marks < m->said);
	/* its rows alone would be so much */
	assert_true(m->said * 10 > m->callers);
	stitch_free(m->model.stitch);
}

static void what_is_said_is_true_whatever_happens(void **state)
{
	static struct machine m;

	for (int trouble = NONE; trouble < N_TROUBLES; trouble++)
		for (unsigned int i = 0; i < 4; i++)
			run(&m, (enum trouble)trouble, i % 2 ? 10 : 2, i / 2 == 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_said_is_true_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
