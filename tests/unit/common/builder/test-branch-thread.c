/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows counted in a thread of their own, against the same counted at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/builder/branch-thread.h"
#include "tests/support/random.h"

#define N_SNAPSHOTS 20000
#define MAX_ROWS    40
#define ROOM        4096 /* distinct rows */
#define COUNT_BYTES                                                              \
	(offsetof(struct record_count, untimed) + sizeof(uint32_t)) /* then room \
								     */
#define LONGEST (UINT16_MAX / sizeof(struct branch_record))

struct snapshots {
	struct branch_record *rows;
	struct counted_snapshot *all;
};

/* Rows of few branches, so that most are counted often. */
static void make_snapshots(struct snapshots *s, uint64_t seed)
{
	uint64_t random = seed;

	s->rows = calloc((size_t)N_SNAPSHOTS * MAX_ROWS, sizeof(*s->rows));
	s->all = calloc(N_SNAPSHOTS, sizeof(*s->all));
	assert_non_null(s->rows);
	assert_non_null(s->all);
	for (size_t i = 0; i < (size_t)N_SNAPSHOTS * MAX_ROWS; i++)
		s->rows[i] = (struct branch_record){ random_below(&random, 20),
						     random_below(&random, 20),
						     next_random(&random) & 0x3ffffff };
	for (size_t i = 0; i < N_SNAPSHOTS; i++)
		s->all[i] = (struct counted_snapshot){
			.rows = &s->rows[i * MAX_ROWS],
			.n_rows = (uint32_t)random_below(&random, MAX_ROWS + 1),
			.context = (uint32_t)random_below(&random, 3),
			.gaps = random_below(&random, 10) == 0,
			.has_leaf = random_below(&random, 2),
			.leaf = random_below(&random, 20) + 1,
			.weight = random_below(&random, 1000),
		};
}

static void free_snapshots(struct snapshots *s)
{
	free(s->all);
	free(s->rows);
}

/* The counts of a table, in its order. */
struct drained {
	struct record_count counts[ROOM];
	size_t n;
};

static int drain_one(const struct record_count *count, void *userdata)
{
	struct drained *d = userdata;

	assert_true(d->n < ROOM);
	d->counts[d->n++] = *count;
	return 0;
}

static void assert_same(struct branch_counter *a, struct branch_counter *b)
{
	static struct drained of_a, of_b;

	of_a.n = of_b.n = 0;
	assert_int_equal(a->n_zero, b->n_zero);
	assert_int_equal(a->n_wrong_path, b->n_wrong_path);
	assert_int_equal(a->n_runs, b->n_runs);
	assert_int_equal(branch_table_drain(&a->table, drain_one, &of_a), 0);
	assert_int_equal(branch_table_drain(&b->table, drain_one, &of_b), 0);
	assert_true(of_a.n > 0);
	assert_int_equal(of_a.n, of_b.n);
	for (size_t i = 0; i < of_a.n; i++)
		assert_memory_equal(&of_a.counts[i], &of_b.counts[i], COUNT_BYTES);
}

/* Waiting now and then, as whoever wants to look at the counts does, changes nothing. */
static void check(uint64_t seed, uint64_t wait_every)
{
	struct branch_counter at_once, in_thread;
	struct branch_thread *thread;
	struct snapshots s;
	uint64_t random = seed;

	make_snapshots(&s, seed);
	assert_int_equal(branch_counter_init(&at_once, ROOM), 0);
	assert_int_equal(branch_counter_init(&in_thread, ROOM), 0);
	assert_int_equal(branch_thread_new(&thread, &in_thread, 0), 0);
	for (size_t i = 0; i < N_SNAPSHOTS; i++) {
		assert_int_equal(branch_counter_add(&at_once, &s.all[i]), 0);
		assert_int_equal(random_below(&random, 20000) == 0 ?
					 branch_thread_count(thread, &s.all[i]) :
					 branch_thread_add(thread, &s.all[i]),
				 0);
		if (wait_every == 0 || random_below(&random, wait_every) > 0)
			continue;
		assert_int_equal(branch_thread_wait(thread), 0);
		assert_int_equal(in_thread.table.n_counts, at_once.table.n_counts);
		assert_int_equal(branch_thread_most_counts(thread), in_thread.table.n_counts);
	}
	assert_int_equal(branch_thread_wait(thread), 0);
	branch_thread_free(thread);
	assert_same(&at_once, &in_thread);
	branch_counter_done(&at_once);
	branch_counter_done(&in_thread);
	free_snapshots(&s);
}

static void test_counts_are_the_same_as_at_once(void **state)
{
	check(1, 0);
	check(2, 3000);
	check(3, 50);
}

/* The rows under way are no more than the table is given room for beyond what it shall hold. */
static void check_under_way(const struct counted_snapshot *snapshot)
{
	struct branch_counter counter;
	struct branch_thread *thread;

	assert_int_equal(branch_counter_init(&counter, ROOM), 0);
	assert_int_equal(branch_thread_new(&thread, &counter, 0), 0);
	for (uint64_t n = 0; n < 3 * BRANCH_THREAD_MIN_ROWS;
	     n += 100 + counted_snapshot_n_rows(snapshot)) {
		assert_int_equal(branch_thread_add(thread, snapshot), 0);
		assert_true(branch_thread_most_counts(thread) <=
			    counted_snapshot_n_rows(snapshot) + BRANCH_THREAD_MIN_ROWS);
	}
	assert_int_equal(branch_thread_wait(thread), 0);
	assert_int_equal(branch_thread_most_counts(thread), counter.table.n_counts);
	branch_thread_free(thread);
	branch_counter_done(&counter);
}

static void test_rows_under_way_have_a_limit(void **state)
{
	static struct branch_record rows[LONGEST];
	struct counted_snapshot snapshot = { .rows = rows, .has_leaf = true };

	for (size_t i = 0; i < LONGEST; i++)
		rows[i] = (struct branch_record){ i + 1, i + 1, 0 };
	for (uint32_t n = 0; n <= LONGEST; n += LONGEST / 5) {
		snapshot.n_rows = n;
		check_under_way(&snapshot);
	}
}

static void test_what_waits_can_be_left(void **state)
{
	struct branch_counter counter;
	struct branch_thread *thread;
	struct snapshots s;

	make_snapshots(&s, 4);
	for (size_t n = 1; n < N_SNAPSHOTS; n *= 3) {
		assert_int_equal(branch_counter_init(&counter, ROOM), 0);
		assert_int_equal(branch_thread_new(&thread, &counter, 0), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(branch_thread_add(thread, &s.all[i]), 0);
		branch_thread_free(thread);
		branch_counter_done(&counter);
	}
	free_snapshots(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_are_the_same_as_at_once),
		cmocka_unit_test(test_rows_under_way_have_a_limit),
		cmocka_unit_test(test_what_waits_can_be_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
