/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The builder and its closing, on samples made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "common/builder/builder-state.h"
#include "common/profile/tables.h"
#include "tests/support/builder-window.h"

static void test_samples_set_aside(void **state)
{
	static const struct branch_record rows[2] = { { CODE, CODE + 1, 0 },
						      { CODE, CODE + 1, 0 } };
	struct builder_settings settings = { .source = 1 };
	struct event e = { .kind = EVENT_SAMPLE,
			   .pid = PID,
			   .source = 0,
			   .sample = { .mode = CPU_MODE_USER, .rows = rows, .n_rows = 2 } };
	struct window w;

	window_init(&w, &settings);
	add(&w, &e);
	e.source = 1;
	e.sample.mode = CPU_MODE_GUEST_KERNEL;
	add(&w, &e);
	e.sample.mode = CPU_MODE_KERNEL;
	add(&w, &e);
	close_window(&w);
	assert_int_equal(w.profile->counters.samples_other_event, 1);
	assert_int_equal(w.profile->counters.samples_guest, 1);
	assert_int_equal(w.profile->counters.samples, 1);
	assert_int_equal(w.profile->counters.rows_skipped_samples, 4);
	assert_int_equal(w.profile->counters.runs_skipped_samples, 2);
	window_done(&w);
}

static void test_losses_are_counted(void **state)
{
	struct event e = { .kind = EVENT_LOST, .lost = { .n = 5 } };
	struct window w;

	window_open(&w);
	add(&w, &e);
	e.lost = (struct lost_event){ .n = 7, .samples = true };
	add(&w, &e);
	e.kind = EVENT_THROTTLE;
	add(&w, &e);
	e.kind = EVENT_UNTHROTTLE;
	add(&w, &e);
	close_window(&w);
	assert_int_equal(w.profile->counters.lost_records, 5);
	assert_int_equal(w.profile->counters.lost_samples, 7);
	assert_int_equal(w.profile->counters.throttled, 1);
	window_done(&w);
}

static void test_a_full_table_of_rows(void **state)
{
	struct builder_settings settings = { .max_rows = 10 };
	struct branch_record rows[ROWS];
	const struct profile_counters *c;
	struct window w;

	for (uint64_t i = 0; i < ROWS; i++)
		rows[i] = (struct branch_record){ CODE + 0x10000 - 32 * i,
						  CODE + 0x10000 - 32 * i + 16, 0 };
	window_init(&w, &settings);
	for (uint32_t i = 0; i < 5; i++)
		add_rows(&w, rows, ROWS);
	c = &close_window(&w)->counters;
	assert_int_equal(c->rows, 5 * ROWS);
	assert_true(c->rows_counted > 0 && c->rows_counted <= 50);
	assert_int_equal(c->rows_limit, c->rows - c->rows_counted);
	assert_true(c->runs_limit > 0);
	/* It is empty again. */
	add_rows(&w, rows, 5);
	assert_int_equal(close_window(&w)->counters.rows_limit, 0);
	assert_int_equal(w.profile->counters.rows_counted, 5);
	window_done(&w);
}

static void test_a_full_table_of_frames(void **state)
{
	struct builder_settings settings = { .max_frames = 4 };
	struct window w;

	window_init(&w, &settings);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t chain[] = { CODE + 0x10 * i, CODE + 0x100, CODE + 0x200 + i / 2 };

		add_chain(&w, chain, 3);
	}
	close_window(&w);
	/* Each is its leaf alone, or nearly: their callers are lost, not who they were. */
	assert_int_equal(w.profile->counters.samples, 3);
	assert_int_equal(w.profile->counters.stacks_pruned, 3);
	assert_true(w.profile->counters.stacks_error > 0);
	for (uint64_t i = 0; i < w.profile->n_stacks; i++) {
		const struct profile_stack *s = &w.profile->stacks[i];
		bool is_leaf = s->frame.offset % 0x10 == 0;

		assert_true(s->samples == 0 || is_leaf);
	}
	window_done(&w);
}

static void add_many(struct window *w)
{
	struct branch_record rows[ROWS];

	for (uint64_t k = 0; k < 200; k++) {
		uint64_t chain[] = { CODE, CODE + 0x100 + 3 * (k % 7), CODE + 0x1000 + k };

		for (uint64_t i = 0; i < ROWS; i++)
			rows[i] = (struct branch_record){ CODE + 0x10000 - 32 * i + k,
							  CODE + 0x10000 - 32 * i + 16 + k,
							  FLAGS(i, 0) };
		add_rows(w, rows, ROWS);
		add_chain(w, chain, 3);
	}
}

static void test_full_tables_lose_nothing_where_memory_is_no_matter(void **state)
{
	struct builder_settings small = { .max_rows = 700, .max_frames = 50, .unbounded = true };
	struct window w, expected;

	window_open(&expected);
	add_many(&expected);
	window_init(&w, &small);
	add_many(&w);
	assert_true(profile_equal(close_window(&w), close_window(&expected)));
	assert_int_equal(w.profile->counters.rows_limit, 0);
	add_many(&w);
	assert_true(profile_equal(close_window(&w), expected.profile));
	window_done(&w);
	window_done(&expected);
}

/* The rows of a table that is not wanted are counted all the same, flushed early or not. */
static void test_tables_that_are_not_wanted(void **state)
{
	for (unsigned int tables = 1; tables < PROFILE_ALL_TABLES; tables++) {
		struct builder_settings settings = { .tables = tables, .unbounded = true };
		struct window w, expected;

		settings.max_rows = tables % 2 ? 700 : 0;
		window_open(&expected);
		add_many(&expected);
		close_window(&expected);
		assert_true(expected.profile->n_branches > 0 && expected.profile->n_blocks > 0);
		assert_true(expected.profile->n_streams > 0);
		profile_drop_tables(expected.profile, ~tables);
		window_init(&w, &settings);
		add_many(&w);
		assert_true(profile_equal(close_window(&w), expected.profile));
		window_done(&w);
		window_done(&expected);
	}
}

static void forget_processes(struct profile *p)
{
	for (size_t i = 0; i < p->n_branches; i++)
		p->branches[i].process = PROFILE_NONE;
	for (size_t i = 0; i < p->n_blocks; i++)
		p->blocks[i].process = PROFILE_NONE;
	p->finalized = false;
	assert_int_equal(profile_finalize(p), 0);
}

/* Adds to two processes of one program at other addresses, and to one of another program. Many rows
 * differ in one end alone. */
static void add_to_processes(struct window *w)
{
	struct branch_record rows[ROWS];

	map(w, PID + 1, CODE + 0x1000000, 0x800000, 0, "/bin/x");
	map(w, PID + 2, CODE, 0x800000, 0, "/bin/y");
	for (uint64_t k = 0; k < 900; k++) {
		uint64_t code = CODE + (k % 3 == 1 ? 0x1000000 : 0);
		struct event e = {
			.kind = EVENT_SAMPLE,
			.pid = PID + (int32_t)(k % 3),
			.sample = { .ip = code, .has_rows = true, .rows = rows, .n_rows = ROWS },
		};

		for (uint64_t i = 0; i < ROWS; i++) {
			uint64_t at = 8 * (k / 7 * ROWS + i);

			rows[i] = (struct branch_record){ code + 0x20000 + (k % 2 ? at : 0),
							  code + 0x10000 + (k % 2 ? 0 : at),
							  FLAGS(i, 0) };
		}
		e.sample.mode = CPU_MODE_USER;
		add(w, &e);
	}
}

static void test_branches_and_blocks_of_all_processes(void **state)
{
	struct builder_settings settings = { .sum_processes = true };
	struct window w, expected;
	size_t n_branches, n_blocks;

	window_open(&expected);
	add_to_processes(&expected);
	close_window(&expected);
	assert_true(expected.profile->n_branches > 2000);
	forget_processes(expected.profile);
	window_init(&w, &settings);
	add_to_processes(&w);
	assert_int_equal(builder_close(w.builder, w.processes, &w.profile), 0);
	n_branches = w.profile->n_branches;
	n_blocks = w.profile->n_blocks;
	assert_true(n_branches > 1000 && n_blocks > 1000);
	assert_int_equal(profile_finalize(w.profile), 0);
	assert_true(profile_equal(w.profile, expected.profile));
	assert_int_equal(w.profile->n_branches, n_branches);
	assert_int_equal(w.profile->n_blocks, n_blocks);
	window_done(&w);
	window_done(&expected);
}

/* Whether a sample's rows stay: none do, all, each other, or a few that make the others wait. */
static bool stays(unsigned int kind, uint64_t k)
{
	return kind < 2 ? kind : kind == 2 ? k % 2 : k % 100 > 0;
}

#define N_MANY 400

static void add_rows_ahead(struct window *w, unsigned int kind)
{
	static struct branch_record rows[N_MANY][ROWS];

	for (uint64_t k = 0; k < N_MANY; k++) {
		struct sample s = { .ip = CODE, .has_rows = true, .rows = rows[k], .n_rows = ROWS };

		for (uint64_t i = 0; i < ROWS; i++)
			rows[k][i] = (struct branch_record){ CODE + 2 * (k * ROWS + i) + 2,
							     CODE + 2 * (k * ROWS + i) - 2, 0 };
		s.rows_stay = stays(kind, k);
		add_sample(w, s);
		if (!s.rows_stay)
			memset(rows[k], 0, sizeof(rows[k]));
	}
}

/* More rows than may be under way, all of them different; and what comes of them does not hang on
 * the thread's pace. */
static void test_rows_ahead_lose_nothing(void **state)
{
	const struct builder_settings settings = { .max_rows = 3000,
						   .unbounded = true,
						   .rows_ahead = 1 };

	for (unsigned int kind = 0; kind < 4; kind++) {
		struct window w, again;

		window_init(&w, &settings);
		add_rows_ahead(&w, kind);
		close_window(&w);
		assert_int_equal(w.profile->counters.rows_limit, 0);
		assert_int_equal(w.profile->counters.rows_counted, N_MANY * ROWS);
		assert_int_equal(w.profile->n_branches, N_MANY * ROWS);
		window_init(&again, &settings);
		add_rows_ahead(&again, kind);
		assert_true(profile_equal(w.profile, close_window(&again)));
		window_done(&w);
		window_done(&again);
	}
}

/* A program that maps over itself all the time, and many are its mappings: each is kept a while
 * only. */
static void test_replaced_address_spaces_are_let_go(void **state)
{
	static const struct branch_record row = { LIB + 0x10, LIB + 0x20, 0 };
	const struct profile *p;
	struct window w;

	window_open(&w);
	for (uint64_t i = 0; i < 1000; i++)
		map(&w, PID, LIB + 0x100000 + 0x2000 * i, 0x1000, 0, "/lib/many.so");
	for (uint64_t i = 0; i < 600; i++) {
		map(&w, PID, LIB, 0x10000, 0, i % 2 ? "/lib/odd.so" : "/lib/even.so");
		add_rows(&w, &row, 1);
	}
	p = close_window(&w);
	assert_int_equal(p->n_branches, 2);
	assert_int_equal(p->branches[0].taken, 300);
	assert_int_equal(p->branches[1].taken, 300);
	window_done(&w);
}

/* The older program's rows keep their meaning, though the next has the same addresses. */
static void test_the_same_address_before_and_after_an_exec(void **state)
{
	static const struct branch_record row = { CODE + 0x10, CODE + 0x20, 0 };
	struct event exec = {
		.kind = EVENT_COMM, .pid = PID, .tid = PID, .comm = { .comm = "next", .exec = true }
	};
	const struct profile *p;
	struct window w;

	window_open(&w);
	add_rows(&w, &row, 1);
	assert_int_equal(processes_apply(w.processes, &exec), 0);
	map(&w, PID, CODE, 0x1000, 0x3000, "/bin/next");
	add_rows(&w, &row, 1);
	add_rows(&w, &row, 1);
	p = close_window(&w);
	assert_int_equal(p->n_processes, 2);
	assert_int_equal(p->n_branches, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct profile_branch *b = &p->branches[i];
		bool next = strcmp(p->objects[b->from.object].path, "/bin/next") == 0;

		assert_int_equal(b->taken, next ? 2 : 1);
		assert_int_equal(b->from.offset, next ? 0x3010 : 0x10);
		assert_int_equal(p->processes[b->process].samples, b->taken);
	}
	window_done(&w);
}

static void test_a_window_after_another(void **state)
{
	static const struct branch_record row = { CODE + 0x10, CODE + 0x20, 0 };
	struct window w;

	window_open(&w);
	for (uint64_t i = 1; i < 5; i++) {
		for (uint64_t k = 0; k < i; k++)
			add_rows(&w, &row, 1);
		assert_int_equal(processes_find(w.processes, PID)->context, 0);
		close_window(&w);
		assert_int_equal(w.profile->counters.rows_counted, i);
		assert_int_equal(w.profile->branches[0].taken, i);
		assert_int_equal(w.profile->n_processes, 1);
		assert_int_equal(processes_find(w.processes, PID)->context, PROFILE_NONE);
	}
	close_window(&w);
	assert_int_equal(w.profile->n_processes, 0);
	assert_int_equal(w.profile->n_branches, 0);
	window_done(&w);
}

static void test_a_function_that_the_kernel_announced(void **state)
{
	struct event e = {
		.kind = EVENT_KSYMBOL,
		.ksymbol = { .address = 0xffffffffc0001000, .n_bytes = 0x80, .name = "bpf_prog_x" }
	};
	static const uint64_t chain[] = { 0xffffffffc0001010 };
	const struct profile *p;
	struct window w;

	window_open(&w);
	assert_int_equal(processes_apply(w.processes, &e), 0);
	add_chain(&w, chain, 1);
	p = close_window(&w);
	assert_int_equal(p->n_functions, 1);
	assert_string_equal(p->functions[0].name, "bpf_prog_x");
	assert_int_equal(p->functions[0].size, 0x80);
	assert_ptr_equal(profile_find_function(p, p->stacks[0].frame), &p->functions[0]);
	window_done(&w);
}

#define GENERATED 0xffffffffc0000000ull

/* Maps functions, one of them over the first, until unused objects are dropped. */
static void map_functions(void *userdata)
{
	char name[16];
	struct event e = { .kind = EVENT_KSYMBOL, .ksymbol = { .n_bytes = 0x80, .name = name } };

	for (uint64_t i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "late_%d", (int)i);
		e.ksymbol.address = GENERATED + 0x80 * i;
		assert_int_equal(processes_apply(userdata, &e), 0);
	}
}

/* What was located before keeps its object until the window is closed. */
static void test_functions_found_while_a_window_closes(void **state)
{
	static const uint64_t first[] = { GENERATED + 0x10 }, second[] = { GENERATED + 0x90 };
	struct event e = { .kind = EVENT_KSYMBOL,
			   .ksymbol = { .address = GENERATED, .n_bytes = 0x80, .name = "early" } };
	const struct profile *p;
	struct window w;

	window_open(&w);
	assert_int_equal(processes_apply(w.processes, &e), 0);
	add_chain(&w, first, 1);
	add_chain(&w, second, 1);
	processes_scan_kernel(w.processes, map_functions, w.processes);
	p = close_window(&w);
	assert_int_equal(p->n_functions, 2);
	assert_string_equal(p->functions[0].name, "early");
	assert_string_equal(p->functions[1].name, "late_1");
	window_done(&w);
}

/* Counts of rows and of streams have 32 bits: before there could be more than that, the tables are
 * emptied. */
static void test_no_count_overflows(void **state)
{
	const struct branch_record rows[] = { { CODE + 0x50, CODE + 0x90,
						BRANCH_RECORD_PREDICTED } };
	const struct profile *p;
	struct window w;

	window_open(&w);
	add_rows(&w, rows, 1);
	w.builder->n_rows = PATH_TREE_MAX_PATHS - 3; /* with each sample a row and its leaf */
	add_rows(&w, rows, 1);
	assert_null(w.builder->flushed);
	add_rows(&w, rows, 1);
	assert_non_null(w.builder->flushed);
	assert_int_equal(w.builder->n_rows, 2);
	p = close_window(&w);
	assert_int_equal(p->n_branches, 1);
	assert_int_equal(p->branches[0].taken, 3);
	assert_int_equal(p->branches[0].predicted, 3);
	window_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_set_aside),
		cmocka_unit_test(test_losses_are_counted),
		cmocka_unit_test(test_a_full_table_of_rows),
		cmocka_unit_test(test_a_full_table_of_frames),
		cmocka_unit_test(test_full_tables_lose_nothing_where_memory_is_no_matter),
		cmocka_unit_test(test_tables_that_are_not_wanted),
		cmocka_unit_test(test_branches_and_blocks_of_all_processes),
		cmocka_unit_test(test_rows_ahead_lose_nothing),
		cmocka_unit_test(test_replaced_address_spaces_are_let_go),
		cmocka_unit_test(test_the_same_address_before_and_after_an_exec),
		cmocka_unit_test(test_a_window_after_another),
		cmocka_unit_test(test_a_function_that_the_kernel_announced),
		cmocka_unit_test(test_functions_found_while_a_window_closes),
		cmocka_unit_test(test_no_count_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
