/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The builder and its closing, on samples made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <linux/perf_event.h>
#include <string.h>

#include "common/builder/builder-internal.h"
#include "common/builder/builder.h"
#include "tests/support/naive-count.h"

#define PID  5
#define CODE 0x400000ull /* /bin/x, its file offset 0 */
#define LIB  0x700000000000ull
#define ROWS 200

/* A window, with the processes it is about. */
struct window {
	struct processes *processes;
	struct builder *builder;
	struct profile *profile; /* once it is closed */
	uint64_t n_samples;
};

static void map(struct window *w, int32_t pid, uint64_t address, uint64_t n_bytes, uint64_t offset,
		const char *path)
{
	struct event e = { .kind = EVENT_MAPPING,
			   .pid = pid,
			   .mapping = { .address = address,
					.n_bytes = n_bytes,
					.file_offset = offset,
					.path = path,
					.executable = true } };

	assert_int_equal(processes_apply(w->processes, &e), 0);
}

static void window_init(struct window *w, const struct builder_settings *settings)
{
	*w = (struct window){ 0 };
	assert_int_equal(processes_new(&w->processes), 0);
	assert_int_equal(builder_new(&w->builder, settings), 0);
	map(w, PID, CODE, 0x800000, 0, "/bin/x");
	map(w, PID, LIB, 0x10000, 0, "/lib/l.so");
}

static void window_open(struct window *w)
{
	struct builder_settings settings = { 0 };

	window_init(w, &settings);
}

static void window_done(struct window *w)
{
	profile_free(w->profile);
	builder_free(w->builder);
	processes_free(w->processes);
}

static void add(struct window *w, const struct event *e)
{
	assert_int_equal(builder_add(w->builder, w->processes, e), 0);
	w->n_samples += e->kind == EVENT_SAMPLE;
}

static void add_rows(struct window *w, const struct row *rows, uint32_t n)
{
	struct event e = { .kind = EVENT_SAMPLE,
			   .pid = PID,
			   .tid = PID,
			   .sample = { .ip = CODE,
				       .period = 10,
				       .mode = CPU_MODE_USER,
				       .has_rows = true,
				       .rows = rows,
				       .n_rows = n } };

	add(w, &e);
}

static void add_chain(struct window *w, const uint64_t *chain, uint32_t n)
{
	struct event e = { .kind = EVENT_SAMPLE,
			   .pid = PID,
			   .tid = PID,
			   .sample = { .ip = CODE,
				       .period = 10,
				       .mode = CPU_MODE_USER,
				       .callchain = chain,
				       .n_callchain = n } };

	add(w, &e);
}

/* Its profile; the counters must hold together whatever was counted. */
static const struct profile *close_window(struct window *w)
{
	profile_free(w->profile);
	w->profile = NULL;
	assert_int_equal(builder_close(w->builder, w->processes, &w->profile), 0);
	assert_true(naive_counters_balance(&w->profile->counters, w->n_samples));
	assert_int_equal(profile_seal(w->profile), 0);
	w->n_samples = 0;
	return w->profile;
}

#define FLAGS(cycles, flags) ((uint64_t)(cycles) << 4 | (flags))

static void test_rows_become_branches_and_blocks(void **state)
{
	static const struct row rows[] = {
		{ CODE + 0x50, CODE + 0x90, FLAGS(7, ROW_MISPREDICTED) },
		{ CODE + 0x30, CODE + 0x40, FLAGS(0, ROW_PREDICTED) },
		{ LIB + 0x10, CODE + 0x20, FLAGS(65535, ROW_ABORT) },
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
	static const struct row row = { CODE + 1, CODE + 2, 0 };
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
static void check_aside(const struct row *bad, size_t offset_of_counter)
{
	const struct row rows[] = {
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
	assert_int_equal(p->counters.runs_beside, 2);
	assert_int_equal(p->counters.runs_counted, 2);
	window_done(&w);
}

static void test_rows_to_distrust(void **state)
{
	const struct row zeros[] = { { 0, 0, 0 }, { CODE + 1, 0, 0 }, { 0, CODE + 1, 0 } };
	const struct row wrong = { CODE + 0x61, CODE + 0x62, ROW_SPEC_WRONG_PATH };

	for (size_t i = 0; i < ARRAY_SIZE(zeros); i++)
		check_aside(&zeros[i], offsetof(struct profile_counters, rows_zero));
	check_aside(&wrong, offsetof(struct profile_counters, rows_wrong_path));
}

/* Speculated rightly, or not said: sound. */
static void test_other_speculation_is_believed(void **state)
{
	struct row rows[] = { { CODE + 0x50, CODE + 0x60, 2ull << 24 },
			      { CODE + 0x30, CODE + 0x40, 3ull << 24 } };
	struct window w;

	window_open(&w);
	add_rows(&w, rows, 2);
	close_window(&w);
	assert_int_equal(w.profile->counters.rows_counted, 2);
	window_done(&w);
}

static uint64_t count_doubled(uint32_t setting, const struct row *rows, uint32_t n)
{
	struct builder_settings settings = { .doubled = setting };
	struct window w;
	uint64_t n_doubled;

	window_init(&w, &settings);
	add_rows(&w, rows, n);
	close_window(&w);
	n_doubled = w.profile->counters.rows_doubled;
	assert_int_equal(w.profile->counters.rows_counted, n - n_doubled);
	assert_int_equal(w.profile->counters.runs_beside, n_doubled);
	window_done(&w);
	return n_doubled;
}

static void test_a_doubled_newest_row(void **state)
{
	struct row rows[32];

	for (uint64_t i = 0; i < 32; i++)
		rows[i] = (struct row){ CODE + 0x8000 - 0x100 * i, CODE + 0x8080 - 0x100 * i, i };
	assert_int_equal(count_doubled(32, rows, 32), 0);
	rows[0] = rows[1];
	rows[0].flags = FLAGS(9, 0); /* the cycles are other ones */
	assert_int_equal(count_doubled(32, rows, 32), 1);
	assert_int_equal(count_doubled(0, rows, 32), 0);
	assert_int_equal(count_doubled(32, rows, 31), 0);
	rows[2] = rows[1]; /* a loop */
	assert_int_equal(count_doubled(32, rows, 32), 0);
	rows[2].from--;
	rows[31] = rows[30]; /* the oldest is none of ours */
	assert_int_equal(count_doubled(32, rows, 32), 1);
	rows[0].from++;
	assert_int_equal(count_doubled(32, rows, 32), 0);
}

/* The run between two rows, by where it begins and ends. */
static struct profile_counters count_run(uint64_t begin, uint64_t end)
{
	const struct row rows[] = { { end, CODE, 0 }, { CODE, begin, 0 } };
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
	struct row rows[ROWS];
	struct window w;

	for (uint64_t i = 0; i < ROWS; i++)
		rows[i] = (struct row){ CODE + 0x10000 - 32 * i, CODE + 0x10000 - 32 * i + 16, 0 };
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

static void test_samples_set_aside(void **state)
{
	static const struct row rows[2] = { { CODE, CODE + 1, 0 }, { CODE, CODE + 1, 0 } };
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
	assert_int_equal(w.profile->counters.rows_aside, 4);
	assert_int_equal(w.profile->counters.runs_aside, 2);
	window_done(&w);
}

/*
 * A snapshot counts the same whether rows that say nothing come with it or were left out when it was
 * written, and only told of.
 */
static void test_rows_that_were_left_out(void **state)
{
	static const struct row whole[] = {
		{ CODE + 0x50, CODE + 0x90, 0 },
		{ CODE + 0x30, CODE + 0x40, 0 },
		{ CODE + 0x11, CODE + 0x12, ROW_SPEC_WRONG_PATH },
		{ CODE + 0x13, CODE + 0x14, ROW_SPEC_WRONG_PATH },
		{ CODE + 0x28, CODE + 0x2c, 0 },
		{ CODE + 0x10, CODE + 0x20, 0 },
		{ 0, 0, 0 },
		{ 0, 0, 0 },
	};
	const struct row kept[] = {
		whole[0], { CODE + 0x30, CODE + 0x40, ROW_AFTER_GAP }, whole[4], whole[5]
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
	static const struct row rows[] = { { CODE + 0x50, CODE + 0x90, 0 },
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
	assert_int_equal(w.profile->counters.runs_beside, 31);
	window_done(&w);
}

/* main called f at 0x10, which called g at 0x30. */
static const struct row calls[] = {
	{ CODE + 0x30, CODE + 0x40, 0 },
	{ CODE + 0x10, CODE + 0x20, 0 },
};

static void add_call_stack(struct window *w, uint64_t ip, const uint64_t *chain, uint32_t n)
{
	struct event e = { .kind = EVENT_SAMPLE,
			   .pid = PID,
			   .tid = PID,
			   .sample = { .ip = ip,
				       .period = 10,
				       .mode = CPU_MODE_USER,
				       .has_rows = true,
				       .call_stack = true,
				       .rows = calls,
				       .n_rows = 2,
				       .callchain = chain,
				       .n_callchain = n } };

	add(w, &e);
}

/* The path to the one leaf there is, outermost first. */
static void assert_path(const struct profile *p, const uint64_t *offsets, size_t n)
{
	assert_int_equal(p->n_stacks, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(p->stacks[i].frame.offset, offsets[i]);
		assert_int_equal(p->stacks[i].samples, i + 1 == n);
	}
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
	static const uint64_t path[] = { 0x10, 0x30, 0x48 };
	static const uint64_t chain[] = { PERF_CONTEXT_USER, CODE + 0x48, CODE + 0x77 };
	struct window w;

	window_open(&w);
	add_call_stack(&w, CODE + 0x48, NULL, 0);
	assert_path(close_window(&w), path, 3);
	add_call_stack(&w, CODE + 0x48, chain, 3); /* the frame pointers' callers are left out */
	assert_path(close_window(&w), path, 3);
	window_done(&w);
}

static void test_the_kernel_is_called_from_a_call_stack(void **state)
{
	const uint64_t kernel = 0xffffffff81000000;
	const uint64_t both[] = { PERF_CONTEXT_KERNEL, kernel + 0x100, kernel + 0x51,
				  PERF_CONTEXT_USER, CODE + 0x48 };
	const uint64_t known[] = { 0x10, 0x30, 0x48, kernel + 0x50, kernel + 0x100 };
	const uint64_t entry[] = { 0x10, 0x30, 0x40, kernel + 0x50, kernel + 0x100 };
	const uint64_t alone[] = { 0x10, 0x30, 0x40, kernel + 0x100 };
	struct window w;

	window_open(&w);
	add_call_stack(&w, kernel + 0x100, both, 5);
	assert_path(close_window(&w), known, 5);
	add_call_stack(&w, kernel + 0x100, both, 3); /* where the user's code was is not known */
	assert_path(close_window(&w), entry, 5);
	add_call_stack(&w, kernel + 0x100, NULL, 0);
	assert_path(close_window(&w), alone, 4);
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

/* A return address less one lies in the call; the leaf, and where the kernel was entered, are no such. */
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

static void test_a_full_table_of_rows(void **state)
{
	struct builder_settings settings = { .max_rows = 10 };
	struct row rows[ROWS];
	const struct profile_counters *c;
	struct window w;

	for (uint64_t i = 0; i < ROWS; i++)
		rows[i] = (struct row){ CODE + 0x10000 - 32 * i, CODE + 0x10000 - 32 * i + 16, 0 };
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
	assert_int_equal(w.profile->counters.stacks_folded, 3);
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
	struct row rows[ROWS];

	for (uint64_t k = 0; k < 200; k++) {
		uint64_t chain[] = { CODE, CODE + 0x100 + 3 * (k % 7), CODE + 0x1000 + k };

		for (uint64_t i = 0; i < ROWS; i++)
			rows[i] = (struct row){ CODE + 0x10000 - 32 * i + k,
						CODE + 0x10000 - 32 * i + 16 + k, FLAGS(i, 0) };
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

/* A program that maps over itself all the time, and many are its mappings: each is kept a while only. */
static void test_replaced_address_spaces_are_let_go(void **state)
{
	static const struct row row = { LIB + 0x10, LIB + 0x20, 0 };
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
	static const struct row row = { CODE + 0x10, CODE + 0x20, 0 };
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
	static const struct row row = { CODE + 0x10, CODE + 0x20, 0 };
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

static void test_the_kind_of_a_branch(void **state)
{
	const struct row rows[] = {
		{ CODE + 0x50, CODE + 0x90, 1u << 20 },
		{ CODE + 0x30, CODE + 0x40, 15u << 20 },
		{ CODE + 0x10, CODE + 0x20, 0 },
	};
	const struct row silent[] = { { CODE + 0x50, CODE + 0x90, 0 } };
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

/* The table's counts have 32 bits: before there could be more rows than that, it is emptied. */
static void test_no_count_overflows(void **state)
{
	const struct row rows[] = { { CODE + 0x50, CODE + 0x90, ROW_PREDICTED } };
	const struct profile *p;
	struct window w;

	window_open(&w);
	add_rows(&w, rows, 1);
	w.builder->counters.rows = UINT32_MAX - 1;
	add_rows(&w, rows, 1);
	assert_null(w.builder->settled);
	add_rows(&w, rows, 1);
	assert_non_null(w.builder->settled);
	assert_int_equal(w.builder->counters.rows, 1);
	w.builder->settled->counters.rows -= UINT32_MAX - 2; /* those that there were not */
	p = close_window(&w);
	assert_int_equal(p->n_branches, 1);
	assert_int_equal(p->branches[0].taken, 3);
	assert_int_equal(p->branches[0].predicted, 3);
	window_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_become_branches_and_blocks),
		cmocka_unit_test(test_one_row_has_no_run),
		cmocka_unit_test(test_rows_to_distrust),
		cmocka_unit_test(test_other_speculation_is_believed),
		cmocka_unit_test(test_a_doubled_newest_row),
		cmocka_unit_test(test_runs_to_distrust),
		cmocka_unit_test(test_more_rows_than_a_batch),
		cmocka_unit_test(test_samples_set_aside),
		cmocka_unit_test(test_rows_that_were_left_out),
		cmocka_unit_test(test_branches_of_chosen_kinds_make_no_blocks),
		cmocka_unit_test(test_rows_that_were_all_left_out),
		cmocka_unit_test(test_rows_of_the_call_stack_mode_are_no_branches),
		cmocka_unit_test(test_rows_of_the_call_stack_mode_are_the_callers),
		cmocka_unit_test(test_the_kernel_is_called_from_a_call_stack),
		cmocka_unit_test(test_losses_are_counted),
		cmocka_unit_test(test_frames_of_a_call_chain),
		cmocka_unit_test(test_a_full_table_of_rows),
		cmocka_unit_test(test_a_full_table_of_frames),
		cmocka_unit_test(test_full_tables_lose_nothing_where_memory_is_no_matter),
		cmocka_unit_test(test_replaced_address_spaces_are_let_go),
		cmocka_unit_test(test_the_same_address_before_and_after_an_exec),
		cmocka_unit_test(test_a_window_after_another),
		cmocka_unit_test(test_a_function_that_the_kernel_announced),
		cmocka_unit_test(test_the_kind_of_a_branch),
		cmocka_unit_test(test_no_count_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
