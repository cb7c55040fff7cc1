/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that come and go within a window are counted together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "common/builder/builder.h"
#include "tests/support/process-events.h"

#define MAKE   5 /* the parent of all */
#define FIRST  100
#define CODE   0x1000u
#define CALLER 0x1100u
#define LEAF   0x1200u

struct window {
	struct processes *processes;
	struct builder *builder;
	struct profile *profile;
	uint64_t now_ns;
};

static void window_open(struct window *w, bool unite_gone)
{
	const struct builder_settings settings = { .unite_gone = unite_gone };

	*w = (struct window){ .processes = make(), .now_ns = 1000 };
	assert_int_equal(builder_new(&w->builder, &settings), 0);
	comm(w->processes, MAKE, MAKE, "make", true);
	map(w->processes, MAKE, CODE, "/bin/make");
}

static const struct profile *window_close(struct window *w)
{
	profile_free(w->profile);
	w->profile = NULL;
	assert_int_equal(builder_close(w->builder, w->processes, &w->profile), 0);
	builder_set_flushed(w->builder, w->now_ns++);
	return w->profile;
}

static void window_done(struct window *w)
{
	profile_free(w->profile);
	builder_free(w->builder);
	processes_free(w->processes);
}

/* One sample, of two frames. */
static void sample(struct window *w, int32_t pid)
{
	const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, LEAF, CALLER + 1 };
	const struct event e = {
		.kind = EVENT_SAMPLE,
		.pid = pid,
		.tid = pid,
		.time_ns = w->now_ns++,
		.sample = { .ip = LEAF,
			    .callchain = chain,
			    .n_callchain = 3,
			    .period = 10,
			    .mode = CPU_MODE_USER },
	};

	assert_int_equal(builder_add(w->builder, w->processes, &e), 0);
}

/* And one that is no more than a tick. */
static void tick(struct window *w, int32_t pid)
{
	const struct builder_ticks ticks = { .ip = LEAF, .n = 1, .weight = 10 };

	assert_int_equal(builder_add_ticks(w->builder, w->processes,
					   processes_find(w->processes, pid), &ticks),
			 0);
}

static void start(struct window *w, int32_t pid, const char *name, const char *path)
{
	fork_at(w->processes, MAKE, pid, pid, w->now_ns++, false);
	comm(w->processes, pid, pid, name, true);
	map(w->processes, pid, CODE, path);
}

static void start_compiler(struct window *w, int32_t pid)
{
	start(w, pid, "cc1", "/bin/cc1");
}

static void run_compilers(struct window *w, int32_t first, int32_t n)
{
	for (int32_t pid = first; pid < first + n; pid++) {
		start_compiler(w, pid);
		sample(w, pid);
		tick(w, pid);
		exit_of(w->processes, pid, pid);
	}
}

/* Each process from row @first on is one. */
static void assert_apart(const struct profile *p, size_t first)
{
	for (size_t i = first; i < p->n_processes; i++)
		assert_int_equal(p->processes[i].n_gone, 0);
}

static void test_many_are_one(void **state)
{
	const struct profile *p;
	struct window w;

	window_open(&w, true);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	p = window_close(&w);
	assert_int_equal(p->n_processes, 1);
	assert_int_equal(p->processes[0].pid, FIRST); /* to find its files by */
	assert_int_equal(p->processes[0].n_gone, BUILDER_UNITE_MIN);
	assert_int_equal(p->processes[0].samples, 2 * BUILDER_UNITE_MIN);
	assert_string_equal(p->processes[0].comm, "cc1");
	assert_string_equal(p->processes[0].executable, "/bin/cc1");
	/* Before they are finalized: the caller, the leaf below it, and the leaf of the ticks. */
	assert_int_equal(p->n_stacks, 3);
	assert_int_equal(p->stacks[1].samples, BUILDER_UNITE_MIN);
	assert_int_equal(p->stacks[1].weight, 10 * BUILDER_UNITE_MIN);
	assert_int_equal(p->stacks[2].ticks, BUILDER_UNITE_MIN);
	assert_int_equal(p->counters.samples, 2 * BUILDER_UNITE_MIN);
	window_done(&w);
}

static void test_few_stay_apart(void **state)
{
	const struct profile *p;
	struct window w;

	window_open(&w, true);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN - 1);
	p = window_close(&w);
	assert_int_equal(p->n_processes, BUILDER_UNITE_MIN - 1);
	assert_apart(p, 0);
	window_done(&w);
}

static void test_who_runs_or_ran_before_stays(void **state)
{
	const struct profile *p;
	struct window w;

	window_open(&w, true);
	start_compiler(&w, 7); /* sampled in the window before */
	sample(&w, 7);
	window_close(&w);
	sample(&w, 7);
	exit_of(w.processes, 7, 7);
	start_compiler(&w, 8); /* runs on */
	sample(&w, 8);
	sample(&w, MAKE); /* was there before all */
	exit_of(w.processes, MAKE, MAKE);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	p = window_close(&w);
	assert_int_equal(p->n_processes, 4);
	assert_int_equal(p->processes[0].n_gone, BUILDER_UNITE_MIN);
	assert_int_equal(p->processes[1].pid, 7);
	assert_int_equal(p->processes[2].pid, 8);
	assert_int_equal(p->processes[3].pid, MAKE);
	assert_apart(p, 1);
	window_done(&w);
}

/* The number of a compiler that has exited is of another program by now. */
static void test_a_number_that_is_used_again(void **state)
{
	const struct profile *p;
	struct window w;

	window_open(&w, true);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	start(&w, FIRST + 1, "ld", "/bin/ld");
	sample(&w, FIRST + 1);
	p = window_close(&w);
	assert_int_equal(p->n_processes, 2);
	assert_int_equal(p->processes[0].n_gone, BUILDER_UNITE_MIN);
	assert_string_equal(p->processes[1].comm, "ld");
	assert_int_equal(p->processes[1].n_gone, 0);
	window_done(&w);
}

/* What one may see of them, and what they are called, stays as it was. */
static void test_others_are_not_counted_with_them(void **state)
{
	const struct process_owner other = { .uid = 1001, .unit = "other.service" };
	struct process_context *context;
	const struct profile *p;
	struct window w;

	window_open(&w, true);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	start(&w, 7, "cc2", "/bin/cc1");
	start(&w, 8, "cc1", "/tmp/cc1");
	start_compiler(&w, 9);
	context = processes_find(w.processes, 9);
	assert_int_equal(processes_identify(w.processes, &context, &other), 0);
	for (int32_t pid = 7; pid <= 9; pid++) {
		sample(&w, pid);
		exit_of(w.processes, pid, pid);
	}
	p = window_close(&w);
	assert_int_equal(p->n_processes, 4);
	assert_int_equal(p->processes[0].n_gone, BUILDER_UNITE_MIN);
	for (size_t i = 1; i < p->n_processes; i++) {
		assert_int_equal(p->processes[i].n_gone, 0);
		assert_int_equal(p->processes[i].samples, 1);
	}
	window_done(&w);
}

static void test_all_stay_apart_if_wanted(void **state)
{
	struct window w;

	window_open(&w, true);
	builder_keep_processes(w.builder, true);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	assert_int_equal(window_close(&w)->n_processes, BUILDER_UNITE_MIN);
	builder_keep_processes(w.builder, false);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	assert_int_equal(window_close(&w)->n_processes, 1);
	window_done(&w);

	window_open(&w, false);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	assert_int_equal(window_close(&w)->n_processes, BUILDER_UNITE_MIN);
	window_done(&w);
}

/* Another mapping in the place of one that was sampled makes another context. */
static void test_a_process_is_counted_once(void **state)
{
	const struct profile *p;
	struct window w;

	window_open(&w, true);
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN - 2);
	start_compiler(&w, 7);
	sample(&w, 7);
	map(w.processes, 7, CODE, "/lib/plugin.so");
	sample(&w, 7);
	exit_of(w.processes, 7, 7);
	p = window_close(&w);
	assert_int_equal(p->n_processes, BUILDER_UNITE_MIN);
	assert_apart(p, 0);
	window_done(&w);
}

/* A window of several flushes has one row of them, and no row twice before it is finalized, though
 * one of the others goes on with another context. */
static void test_an_early_flush(void **state)
{
	const struct profile *p;
	uint64_t begin_ns;
	struct window w;

	window_open(&w, true);
	begin_ns = w.now_ns + 1; /* a fork comes before it */
	run_compilers(&w, FIRST, BUILDER_UNITE_MIN);
	start_compiler(&w, 7);
	sample(&w, 7);
	start_compiler(&w, 8); /* has no samples yet, but might have had */
	assert_int_equal(builder_flush(w.builder, w.processes, w.now_ns++), 0);
	map(w.processes, 7, CODE, "/lib/plugin.so");
	sample(&w, 7);
	exit_of(w.processes, 7, 7);
	sample(&w, 8);
	exit_of(w.processes, 8, 8);
	run_compilers(&w, 2 * FIRST, 3);
	p = window_close(&w);
	assert_int_equal(p->processes[0].n_gone, BUILDER_UNITE_MIN + 3);
	assert_int_equal(p->processes[0].samples, 2 * (BUILDER_UNITE_MIN + 3));
	assert_int_equal(p->counters.samples, 2 * (BUILDER_UNITE_MIN + 3) + 3);
	assert_int_equal(p->info.start_ns, begin_ns);
	assert_int_equal(p->info.end_ns, w.now_ns - 2); /* the window's end comes after it */
	assert_int_equal(p->n_objects, 2);
	assert_int_equal(p->n_processes, 3);
	assert_int_equal(p->n_stacks, 3 + 4 + 2);
	assert_int_equal(p->processes[1].pid, 7);
	assert_int_equal(p->processes[1].samples, 2);
	assert_int_equal(p->processes[2].pid, 8);
	assert_int_equal(p->processes[2].samples, 1);

	/* The next window begins anew. */
	run_compilers(&w, 3 * FIRST, BUILDER_UNITE_MIN - 1);
	assert_int_equal(window_close(&w)->n_processes, BUILDER_UNITE_MIN - 1);
	window_done(&w);
}

/* What comes late of those whose contexts were released is not counted with them once more. */
static void test_a_forced_flush(void **state)
{
	const struct builder_settings settings = { .unite_gone = true,
						   .unbounded = true,
						   .max_frames = 4 };
	const struct profile *p;
	uint64_t n_gone = 0;
	struct window w = { .processes = make(), .now_ns = 1000 };

	assert_int_equal(builder_new(&w.builder, &settings), 0);
	for (int32_t pid = FIRST; pid < FIRST + 20; pid++) {
		start_compiler(&w, pid);
		tick(&w, pid);
		exit_of(w.processes, pid, pid);
	}
	for (int32_t pid = 7; pid < 12; pid++) { /* more nodes than four */
		start(&w, pid, "ld", "/bin/ld");
		sample(&w, pid);
	}
	for (int32_t pid = FIRST; pid < FIRST + 20; pid++)
		tick(&w, pid);
	p = window_close(&w);
	for (size_t i = 0; i < p->n_processes; i++)
		n_gone += p->processes[i].n_gone;
	assert_int_equal(n_gone, 20);
	assert_int_equal(p->counters.samples, 20 + 5 + 20);
	window_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_are_one),
		cmocka_unit_test(test_few_stay_apart),
		cmocka_unit_test(test_who_runs_or_ran_before_stays),
		cmocka_unit_test(test_a_number_that_is_used_again),
		cmocka_unit_test(test_others_are_not_counted_with_them),
		cmocka_unit_test(test_all_stay_apart_if_wanted),
		cmocka_unit_test(test_a_process_is_counted_once),
		cmocka_unit_test(test_an_early_flush),
		cmocka_unit_test(test_a_forced_flush),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
