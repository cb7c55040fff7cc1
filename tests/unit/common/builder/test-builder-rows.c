/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the builder makes of branch rows: branches and blocks, and the skipped ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include <linux/perf_event.h>

#include "tests/support/builder-window.h"

static void test_rows_become_branches_and_blocks(void **state)
{
	static const struct branch_record rows[] = {
		{ CODE + 0x50, CODE + 0x90, FLAGS(7, BRANCH_RECORD_MISPREDICTED) },
		{ CODE + 0x30, CODE + 0x40, FLAGS(0, BRANCH_RECORD_PREDICTED) },
		{ LIB + 0x10, CODE + 0x20, FLAGS(65535, BRANCH_RECORD_ABORT) },
	};
	const struct profile *p;
	struct window w;

	window_open(&w);
	add_rows(&w, rows, 3);
	add_rows(&w, rows, 3);
	p = close_window(&w);
	assert_int_equal(p->counters.samples, 2);
	assert_int_equal(p->counters.weight, 20);
	assert_int_equal(p->counters.rows, 6);
	assert_int_equal(p->counters.rows_counted, 6);
	assert_int_equal(p->counters.runs, 4);
	assert_int_equal(p->counters.runs_counted, 4);
	assert_int_equal(p->counters.cycles, 2 * (7 + 65535));
	assert_int_equal(p->n_branches, 3);
	assert_int_equal(p->n_blocks, 2);
	for (size_t i = 0; i < p->n_branches; i++) {
		const struct profile_branch *b = &p->branches[i];

		assert_int_equal(b->taken, 2);
		assert_int_equal(b->mispredicted, b->from.offset == 0x50 ? 2 : 0);
		assert_int_equal(b->predicted, b->from.offset == 0x30 ? 2 : 0);
		assert_int_equal(b->aborted, b->to.offset == 0x20 ? 2 : 0);
		assert_int_equal(b->cycles_rows, b->to.offset == 0x40 ? 0 : 2);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *b = &p->blocks[i];

		assert_int_equal(b->runs, 2);
		assert_int_equal(b->end - b->start, 0x10);
		assert_int_equal(b->cycles, b->start == 0x40 ? 14 : 0);
		assert_int_equal(b->cycles_rows, b->start == 0x40 ? 2 : 0);
	}
	window_done(&w);
}

/* The oldest row ends no run, and the newest begins none. */
static void test_one_row_has_no_run(void **state)
{
	static const struct branch_record row = { CODE + 1, CODE + 2, 0 };
	struct window w;

	window_open(&w);
	add_rows(&w, &row, 1);
	add_rows(&w, NULL, 0);
	close_window(&w);
	assert_int_equal(w.profile->counters.rows_counted, 1);
	assert_int_equal(w.profile->counters.runs, 0);
	assert_int_equal(w.profile->counters.snapshots_empty, 1);
	window_done(&w);
}

/* A row not to be believed takes the runs on both its sides with it. */
static void check_skipped(const struct branch_record *bad, size_t offset_of_counter)
{
	const struct branch_record rows[] = {
		{ CODE + 0x90, CODE + 0x99, 0 }, { CODE + 0x70, CODE + 0x80, 0 }, *bad,
		{ CODE + 0x50, CODE + 0x60, 0 }, { CODE + 0x30, CODE + 0x40, 0 },
	};
	const struct profile *p;
	struct window w;

	window_open(&w);
	add_rows(&w, rows, 5);
	p = close_window(&w);
	assert_int_equal(*(const uint64_t *)((const char *)&p->counters + offset_of_counter), 1);
	assert_int_equal(p->counters.rows_counted, 4);
	assert_int_equal(p->counters.runs_skipped_rows, 2);
	assert_int_equal(p->counters.runs_counted, 2);
	window_done(&w);
}

static void test_rows_to_distrust(void **state)
{
	const struct branch_record zeros[] = { { 0, 0, 0 },
					       { CODE + 1, 0, 0 },
					       { 0, CODE + 1, 0 } };
	const struct branch_record wrong = { CODE + 0x61, CODE + 0x62,
					     BRANCH_RECORD_SPEC_WRONG_PATH };

	for (size_t i = 0; i < ARRAY_SIZE(zeros); i++)
		check_skipped(&zeros[i], offsetof(struct profile_counters, rows_zero));
	check_skipped(&wrong, offsetof(struct profile_counters, rows_wrong_path));
}

/* Speculated rightly, or not said: sound. */
static void test_other_speculation_is_believed(void **state)
{
	struct branch_record rows[] = { { CODE + 0x50, CODE + 0x60, 2ull << 24 },
					{ CODE + 0x30, CODE + 0x40, 3ull << 24 } };
	struct window w;

	window_open(&w);
	add_rows(&w, rows, 2);
	close_window(&w);
	assert_int_equal(w.profile->counters.rows_counted, 2);
	window_done(&w);
}

static uint64_t count_duplicates(uint32_t setting, const struct branch_record *rows, uint32_t n)
{
	struct builder_settings settings = { .duplicate_depth = setting };
	struct window w;
	uint64_t n_duplicates;

	window_init(&w, &settings);
	add_rows(&w, rows, n);
	close_window(&w);
	n_duplicates = w.profile->counters.rows_duplicate;
	assert_int_equal(w.profile->counters.rows_counted, n - n_duplicates);
	assert_int_equal(w.profile->counters.runs_skipped_rows, n_duplicates);
	window_done(&w);
	return n_duplicates;
}

static void test_a_duplicate_newest_record(void **state)
{
	struct branch_record rows[32];

	for (uint64_t i = 0; i < 32; i++)
		rows[i] = (struct branch_record){ CODE + 0x8000 - 0x100 * i,
						  CODE + 0x8080 - 0x100 * i, i };
	assert_int_equal(count_duplicates(32, rows, 32), 0);
	rows[0] = rows[1];
	rows[0].flags = FLAGS(9, 0); /* the cycles are other ones */
	assert_int_equal(count_duplicates(32, rows, 32), 1);
	assert_int_equal(count_duplicates(0, rows, 32), 0);
	assert_int_equal(count_duplicates(32, rows, 31), 0);
	rows[2] = rows[1]; /* a loop */
	assert_int_equal(count_duplicates(32, rows, 32), 0);
	rows[2].from--;
	rows[31] = rows[30]; /* the oldest is none of ours */
	assert_int_equal(count_duplicates(32, rows, 32), 1);
	rows[0].from++;
	assert_int_equal(count_duplicates(32, rows, 32), 0);
}

/* The run between two rows, by where it begins and ends. */
static struct profile_counters count_run(uint64_t begin, uint64_t end)
{
	const struct branch_record rows[] = { { end, CODE, 0 }, { CODE, begin, 0 } };
	struct profile_counters c;
	struct window w;

	window_open(&w);
	/* The same file once more, further on, so that the same offsets come twice. */
	map(&w, PID, LIB + 0x10000, 0x10000, 0, "/lib/l.so");
	add_rows(&w, rows, 2);
	c = close_window(&w)->counters;
	window_done(&w);
	return c;
}

static void test_runs_to_distrust(void **state)
{
	assert_int_equal(count_run(CODE + 8, CODE + 8).runs_counted, 1);
	assert_int_equal(count_run(CODE + 8, CODE + 7).runs_backward, 1);
	assert_int_equal(count_run(CODE, CODE + (1 << 20)).runs_counted, 1);
	assert_int_equal(count_run(CODE, CODE + (1 << 20) + 1).runs_long, 1);
	assert_int_equal(count_run(CODE + 0x7ffff0, CODE + 0x800010).runs_across, 1);
	assert_int_equal(count_run(LIB - 16, LIB).runs_across, 1);
	assert_int_equal(count_run(0x1000, 0x1010).runs_across, 1);
	assert_int_equal(count_run(LIB + 0xfff0, LIB + 0x10010).runs_across, 1);
}

static void test_more_rows_than_a_batch(void **state)
{
	struct branch_record rows[ROWS];
	struct window w;

	for (uint64_t i = 0; i < ROWS; i++)
		rows[i] = (struct branch_record){ CODE + 0x10000 - 32 * i,
						  CODE + 0x10000 - 32 * i + 16, 0 };
	for (uint32_t n = 60; n <= ROWS; n++) {
		window_open(&w);
		add_rows(&w, rows, n);
		close_window(&w);
		assert_int_equal(w.profile->counters.rows_counted, n);
		assert_int_equal(w.profile->counters.runs_counted, n - 1);
		assert_int_equal(w.profile->n_branches, n);
		window_done(&w);
	}
}

/*
 * A snapshot counts the same whether rows that say nothing come with it or were left out when it
 * was written, and only told of.
 */
static void test_rows_that_were_left_out(void **state)
{
	static const struct branch_record whole[] = {
		{ CODE + 0x50, CODE + 0x90, 0 },
		{ CODE + 0x30, CODE + 0x40, 0 },
		{ CODE + 0x11, CODE + 0x12, BRANCH_RECORD_SPEC_WRONG_PATH },
		{ CODE + 0x13, CODE + 0x14, BRANCH_RECORD_SPEC_WRONG_PATH },
		{ CODE + 0x28, CODE + 0x2c, 0 },
		{ CODE + 0x10, CODE + 0x20, 0 },
		{ 0, 0, 0 },
		{ 0, 0, 0 },
	};
	const struct branch_record kept[] = {
		whole[0], { CODE + 0x30, CODE + 0x40, BRANCH_RECORD_AFTER_GAP }, whole[4], whole[5]
	};
	struct event e = { .kind = EVENT_SAMPLE,
			   .pid = PID,
			   .tid = PID,
			   .sample = { .ip = CODE,
				       .mode = CPU_MODE_USER,
				       .has_rows = true,
				       .rows = kept,
				       .n_rows = 4,
				       .n_zero = 2,
				       .n_wrong_path = 2 } };
	struct profile *expected;
	struct window w;

	window_open(&w);
	add_rows(&w, whole, 8);
	close_window(&w);
	expected = w.profile;
	w.profile = NULL;
	assert_int_equal(expected->counters.rows_wrong_path, 2);
	assert_int_equal(expected->counters.rows_zero, 2);
	assert_int_equal(expected->counters.runs_counted, 2);
	e.sample.period = 10;
	add(&w, &e);
	assert_true(profile_equal(close_window(&w), expected));
	profile_free(expected);
	window_done(&w);
}

static void test_branches_of_chosen_kinds_make_no_blocks(void **state)
{
	static const struct branch_record rows[] = { { CODE + 0x50, CODE + 0x90, 0 },
						     { CODE + 0x30, CODE + 0x40, 0 } };
	struct event e = { .kind = EVENT_SAMPLE,
			   .pid = PID,
			   .tid = PID,
			   .sample = { .ip = CODE,
				       .mode = CPU_MODE_USER,
				       .has_rows = true,
				       .gaps = true,
				       .rows = rows,
				       .n_rows = 2 } };
	struct window w;

	window_open(&w);
	add(&w, &e);
	close_window(&w);
	assert_int_equal(w.profile->n_branches, 2);
	assert_int_equal(w.profile->n_blocks, 0);
	assert_int_equal(w.profile->counters.runs_filtered, 1);
	window_done(&w);
}

static void test_rows_that_were_all_left_out(void **state)
{
	struct event e = {
		.kind = EVENT_SAMPLE,
		.pid = PID,
		.tid = PID,
		.sample = { .ip = CODE, .mode = CPU_MODE_USER, .has_rows = true, .n_zero = 32 }
	};
	struct window w;

	window_open(&w);
	add(&w, &e);
	close_window(&w);
	assert_int_equal(w.profile->counters.samples, 1);
	assert_int_equal(w.profile->counters.rows, 32);
	assert_int_equal(w.profile->counters.rows_zero, 32);
	assert_int_equal(w.profile->counters.runs_skipped_rows, 31);
	window_done(&w);
}

static void test_the_kind_of_a_branch(void **state)
{
	const struct branch_record rows[] = {
		{ CODE + 0x50, CODE + 0x90, 1u << 20 },
		{ CODE + 0x30, CODE + 0x40, 15u << 20 },
		{ CODE + 0x10, CODE + 0x20, 0 },
	};
	const struct branch_record silent[] = { { CODE + 0x50, CODE + 0x90, 0 } };
	static const enum branch_kind expected[] = { BRANCH_UNKNOWN, BRANCH_FAULT, BRANCH_COND };
	const struct profile *p;
	struct window w;

	window_open(&w);
	add_rows(&w, silent, 1);
	add_rows(&w, rows, 3);
	add_rows(&w, silent, 1);
	p = close_window(&w);
	assert_int_equal(p->n_branches, 3);
	for (size_t i = 0; i < p->n_branches; i++)
		assert_int_equal(p->branches[i].kind, expected[i]);
	window_done(&w);
}

/* Each path is rare between two flushes, and so is each branch, but not in the window. */
static void test_a_flush_of_stacks_keeps_records(void **state)
{
	const struct builder_settings settings = { .rare_streams = 1, .max_rows = 600 };
	struct window flushed, plain;

	window_init(&flushed, &settings);
	window_init(&plain, &settings);
	for (uint64_t i = 0; i < 4000; i++) {
		uint64_t at = CODE + 64 * (i % 400);
		const struct branch_record rows[] = { { at + 32, at + 16, 0 },
						      { at + 24, at + 8, 0 } };

		add_rows(&flushed, rows, 2);
		add_rows(&plain, rows, 2);
		if (i % 100 == 99)
			assert_int_equal(builder_flush(flushed.builder, flushed.processes, 0), 0);
	}
	assert_true(profile_equal(close_window(&flushed), close_window(&plain)));
	assert_in_range(flushed.profile->n_branches, 500, 600);
	assert_in_range(flushed.profile->n_streams, 400, 800);
	window_done(&flushed);
	window_done(&plain);
}

/* Of the file, after its samples were flushed. */
static void test_a_build_id_that_is_learnt_late(void **state)
{
	const uint64_t chain[] = { PERF_CONTEXT_USER, CODE + 0x10 };
	struct event e = { .kind = EVENT_BUILD_ID,
			   .pid = -1,
			   .build_id = { .path = "/bin/x", .build_id = { 7 }, .n_build_id = 20 } };
	const struct profile *p;
	struct window w;

	window_open(&w);
	add_chain(&w, chain, 2);
	assert_int_equal(builder_flush(w.builder, w.processes, 0), 0);
	assert_int_equal(processes_apply(w.processes, &e), 0);
	add_chain(&w, chain, 2);
	assert_int_equal(builder_close(w.builder, w.processes, &w.profile), 0);
	p = w.profile;
	assert_int_equal(p->n_objects, 1);
	assert_int_equal(p->objects[0].n_build_id, 20);
	assert_int_equal(p->objects[0].build_id[0], 7);
	window_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_become_branches_and_blocks),
		cmocka_unit_test(test_one_row_has_no_run),
		cmocka_unit_test(test_rows_to_distrust),
		cmocka_unit_test(test_other_speculation_is_believed),
		cmocka_unit_test(test_a_duplicate_newest_record),
		cmocka_unit_test(test_runs_to_distrust),
		cmocka_unit_test(test_more_rows_than_a_batch),
		cmocka_unit_test(test_rows_that_were_left_out),
		cmocka_unit_test(test_branches_of_chosen_kinds_make_no_blocks),
		cmocka_unit_test(test_rows_that_were_all_left_out),
		cmocka_unit_test(test_the_kind_of_a_branch),
		cmocka_unit_test(test_a_flush_of_stacks_keeps_records),
		cmocka_unit_test(test_a_build_id_that_is_learnt_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
