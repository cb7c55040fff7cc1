/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The builder on samples and mappings at random, against the same counted row by row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "common/builder/builder.h"
#include "tests/naive/count.h"
#include "tests/support/random.h"

#define CODE      0x400000ull
#define LIB       0x700000000000ull
#define MAX_ROWS  200
#define N_SAMPLES 150

/* Addresses that are often near each other, in objects, across their ends, and in none. */
static uint64_t random_address(uint64_t *random)
{
	static const uint64_t bases[] = { CODE, CODE,         CODE + 0x7fff80, LIB,
					  LIB,  LIB + 0xff80, 0x1000,          0xffffffff81000000 };

	if (random_below(random, 40) == 0)
		return 0;
	return bases[random_below(random, ARRAY_SIZE(bases))] + random_below(random, 256);
}

static void random_sample(uint64_t *random, struct event *e, struct branch_record *rows,
			  uint64_t *chain)
{
	*e = (struct event){ .kind = EVENT_SAMPLE,
			     .pid = (int32_t)(4 + random_below(random, 3)),
			     .source = random_below(random, 20) == 0,
			     .time_ns = 1 };
	e->sample = (struct sample){
		.ip = random_address(random),
		.period = random_below(random, 1000),
		.mode = random_below(random, 20) == 0 ? CPU_MODE_GUEST_USER : CPU_MODE_USER,
		.has_rows = true,
		.rows_stay = random_below(random, 2),
		.n_rows = (uint32_t)random_below(random,
						 random_below(random, 10) == 0 ? MAX_ROWS : 34),
		.rows = rows,
		.n_callchain = (uint32_t)random_below(random, 6),
		.callchain = chain,
	};
	for (uint32_t i = 0; i < e->sample.n_rows; i++) {
		rows[i] = (struct branch_record){ random_address(random), random_address(random),
						  next_random(random) & 0x3ffffff };
		if (i > 0 && random_below(random, 4) == 0)
			rows[i] = rows[i - 1];
	}
	for (uint32_t i = 0; i < e->sample.n_callchain; i++)
		chain[i] = random_below(random, 5) == 0 ? PERF_CONTEXT_USER :
							  random_address(random) | 1;
}

static void map_both(struct processes *processes, struct naive *naive, int32_t pid,
		     uint64_t address, uint64_t n_bytes, uint64_t offset, const char *path)
{
	struct event e = { .kind = EVENT_MAPPING,
			   .pid = pid,
			   .mapping = { .address = address,
					.n_bytes = n_bytes,
					.file_offset = offset,
					.path = path,
					.executable = true } };

	assert_int_equal(processes_apply(processes, &e), 0);
	naive_apply(naive, &e);
}

/* Something lies everywhere, as what was sampled nowhere belongs to what is mapped there next. */
static void map_everything(struct processes *processes, struct naive *naive, int32_t pid)
{
	map_both(processes, naive, pid, 0, UINT64_MAX / 2, 0, "/whole");
}

static void random_change(struct processes *processes, struct naive *naive, uint64_t *random)
{
	static const char *const paths[] = { "/bin/x", "/lib/l.so", "/lib/m.so", "//anon",
					     "[vdso]" };
	int32_t pid = (int32_t)(4 + random_below(random, 3));
	struct event e = { .kind = EVENT_COMM, .pid = pid, .tid = pid, .comm = { .comm = "x" } };

	if (random_below(random, 10) > 0) {
		map_both(processes, naive, pid, random_below(random, 2) ? CODE : LIB,
			 random_below(random, 3) ? 0x1000000 : 0x80,
			 random_below(random, 4) * 0x1000,
			 paths[random_below(random, ARRAY_SIZE(paths))]);
		return;
	}
	e.comm.exec = random_below(random, 2);
	assert_int_equal(processes_apply(processes, &e), 0);
	naive_apply(naive, &e);
	map_everything(processes, naive, pid);
}

/* Where they must not be looked at any more. */
static void spoil(struct branch_record *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct branch_record){ CODE, CODE + i, 0 };
}

static void check_random_window(uint64_t *random)
{
	static struct branch_record rows[N_SAMPLES][MAX_ROWS];
	const struct builder_settings settings = {
		.duplicate_depth = 32,
		.rows_ahead = random_below(random, 2),
		.unbounded = true,
		.max_rows = random_below(random, 2) ? 1000 : 0,
	};
	const struct naive_rules rules = { .duplicate_depth = 32 };
	_cleanup_(processes_freep) struct processes *processes = NULL;
	_cleanup_(builder_freep) struct builder *builder = NULL;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct naive_counts got = { 0 }, expected = { 0 };
	struct naive naive;

	naive_init(&naive);
	assert_int_equal(processes_new(&processes), 0);
	assert_int_equal(builder_new(&builder, &settings), 0);
	for (int32_t pid = 4; pid < 7; pid++)
		map_everything(processes, &naive, pid);
	for (int i = 0; i < N_SAMPLES; i++) {
		uint64_t chain[8];
		struct event e;

		random_sample(random, &e, rows[i], chain);
		naive_count(&expected, &naive, &rules, &e);
		assert_int_equal(builder_add(builder, processes, &e), 0);
		if (!e.sample.rows_stay)
			spoil(rows[i], MAX_ROWS);
		if (random_below(random, 8) == 0)
			random_change(processes, &naive, random);
		if (random_below(random, 200) == 0)
			assert_int_equal(builder_flush(builder, processes, 0), 0);
	}
	assert_int_equal(builder_close(builder, processes, &profile), 0);
	assert_true(naive_counters_balance(&profile->counters, N_SAMPLES));
	assert_int_equal(profile_finalize(profile), 0);
	naive_count_profile(&got, &naive, profile);
	naive_counts_merge(&got);
	naive_counts_merge(&expected);
	assert_true(naive_counts_equal(&got, &expected));
	naive_counts_done(&got);
	naive_counts_done(&expected);
	naive_done(&naive);
}

static void test_windows_at_random_are_as_counted_naively(void **state)
{
	uint64_t random = 9;

	for (int i = 0; i < 100; i++)
		check_random_window(&random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_at_random_are_as_counted_naively),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
