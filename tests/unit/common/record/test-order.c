/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/record/order.h"
#include "tests/support/random.h"

/* Records are told apart by where they would lie: nothing looks into them. */
static struct perf_event_header records[200000];

static void add(struct order *o, uint64_t time, size_t i)
{
	struct waiting w = { .time_ns = time, .record = &records[i] };

	assert_int_equal(order_add(o, &w), 0);
}

static size_t number(const struct waiting *w)
{
	return (size_t)(w->record - records);
}

/* The next that goes out is record @i. */
static void assert_next(struct order *o, size_t i)
{
	struct waiting w;

	assert_true(order_next(o, &w));
	assert_int_equal(number(&w), i);
}

static void assert_none(struct order *o)
{
	struct waiting w;

	assert_false(order_next(o, &w));
}

static struct order *make(size_t max_waiting)
{
	struct order *o = NULL;

	assert_int_equal(order_new(&o, max_waiting), 0);
	return o;
}

static void test_nothing_goes_out_before_a_round_ends(void **state)
{
	struct order *o = make(0);

	add(o, 2, 0);
	add(o, 1, 1);
	assert_none(o);
	assert_int_equal(order_finish(o), 0);
	assert_next(o, 1);
	assert_next(o, 0);
	assert_none(o);
	order_free(o);
}

/* After round n + 1 all up to the latest of round n may go: later rounds begin after that. */
static void test_a_round_lets_out_what_the_one_before_held(void **state)
{
	struct order *o = make(0);

	add(o, 10, 0);
	add(o, 5, 1);
	assert_int_equal(order_finish_round(o), 0);
	assert_none(o);
	add(o, 7, 2);
	add(o, 10, 3);
	add(o, 12, 4);
	assert_int_equal(order_finish_round(o), 0);
	assert_next(o, 1);
	assert_next(o, 2);
	assert_next(o, 0);
	assert_next(o, 3);
	assert_none(o);
	assert_int_equal(order_finish_round(o), 0);
	assert_next(o, 4);
	assert_none(o);
	assert_int_equal(order_n_late(o), 0);
	order_free(o);
}

static void test_one_that_comes_too_late_is_counted_and_not_lost(void **state)
{
	struct order *o = make(0);

	add(o, 10, 0);
	assert_int_equal(order_finish_round(o), 0);
	assert_int_equal(order_finish_round(o), 0);
	assert_next(o, 0);
	add(o, 9, 1);
	add(o, 10, 2); /* not before what went out: in time */
	add(o, 11, 3);
	assert_int_equal(order_n_late(o), 1);
	assert_int_equal(order_finish(o), 0);
	assert_next(o, 1);
	assert_next(o, 2);
	assert_next(o, 3);
	assert_none(o);
	order_free(o);
}

static void test_one_without_a_time_stays_behind_the_one_before(void **state)
{
	struct order *o = make(0);

	add(o, 0, 0);
	add(o, 20, 1);
	add(o, 0, 2);
	add(o, 10, 3);
	add(o, 0, 4);
	assert_int_equal(order_finish(o), 0);
	assert_next(o, 0);
	assert_next(o, 3);
	assert_next(o, 4);
	assert_next(o, 1);
	assert_next(o, 2);
	order_free(o);
}

static void test_too_many_are_let_out_the_older_half_first(void **state)
{
	struct order *o = make(100);
	struct waiting w;
	size_t n = 0;

	for (size_t i = 0; i < 99; i++) {
		add(o, 1000 - i, i);
		assert_none(o);
	}
	add(o, 1, 99);
	assert_next(o, 99);
	while (order_next(o, &w)) {
		assert_int_equal(number(&w), 98 - n);
		n++;
	}
	assert_int_equal(n, 49);
	order_free(o);
}

/* Chunks are held while their records wait, and let go by whoever took the last of them. */
static void test_chunks_are_held_as_long_as_their_records(void **state)
{
	struct chunk *chunk = chunk_new(0);
	struct order *o = make(0);
	struct waiting w;

	assert_non_null(chunk);
	for (size_t i = 0; i < 3; i++) {
		w = (struct waiting){ i + 1, &records[i], chunk_ref(chunk) };
		assert_int_equal(order_add(o, &w), 0);
	}
	assert_int_equal(chunk->n_refs, 4);
	assert_int_equal(order_finish(o), 0);
	assert_true(order_next(o, &w));
	assert_ptr_equal(w.chunk, chunk);
	chunk_unref(w.chunk);
	assert_int_equal(chunk->n_refs, 3);
	order_free(o); /* two still wait */
	assert_int_equal(chunk->n_refs, 1);
	chunk_unref(chunk);
}

/*
 * Memory stays bounded however little of a chunk still waits: here one record of each is of the far
 * future, and holds it.
 */
static void test_chunks_are_bounded_in_number(void **state)
{
	struct order *o = make(0);
	struct chunk *chunks[1000];
	size_t n_held = 0;
	struct waiting w;

	for (size_t i = 0; i < 1000; i++) {
		chunks[i] = chunk_new(i);
		assert_non_null(chunks[i]);
		for (size_t k = 0; k < 20; k++) {
			w = (struct waiting){ k == 0 ? UINT64_MAX - 1000 + i : 20 * i + k,
					      &records[20 * i + k], chunk_ref(chunks[i]) };
			assert_int_equal(order_add(o, &w), 0);
			while (order_next(o, &w))
				chunk_unref(w.chunk);
		}
		n_held = 0;
		for (size_t k = 0; k <= i; k++)
			n_held += chunks[k]->n_refs > 1;
		assert_in_range(n_held, 0, 128);
	}
	order_free(o);
	for (size_t i = 0; i < 1000; i++)
		chunk_unref(chunks[i]);
}

struct timed {
	uint64_t time;
	size_t number;
};

static int compare_times(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/*
 * Rings drained in rounds, as perf does it: what is in a ring at the end of round n was written
 * before any of round n + 2. All must come out in order, and equal times in the order of the file.
 */
static size_t fill_rounds(struct timed *all, size_t n_rounds, uint64_t *random, struct order *o,
			  struct timed *out, size_t *n_out)
{
	size_t n = 0;
	struct waiting w;

	for (size_t round = 0; round < n_rounds; round++) {
		size_t n_rings = 1 + random_below(random, 6);

		for (size_t ring = 0; ring < n_rings; ring++) {
			uint64_t time = 1 + round * 100;
			size_t n_records = random_below(random, 20);

			for (size_t i = 0; i < n_records; i++) {
				time += random_below(random, 8);
				all[n] = (struct timed){ time, n };
				add(o, time, n);
				n++;
			}
		}
		assert_int_equal(order_finish_round(o), 0);
		while (order_next(o, &w))
			out[(*n_out)++] = (struct timed){ w.time_ns, number(&w) };
	}
	return n;
}

static void test_rounds_of_rings_come_out_as_qsort_has_them(void **state)
{
	struct timed *all = calloc(ARRAY_SIZE(records), sizeof(*all));
	struct timed *out = calloc(ARRAY_SIZE(records), sizeof(*out));
	uint64_t random = 3;
	struct waiting w;

	assert_true(all && out);
	for (int i = 0; i < 300; i++) {
		struct order *o = make(0);
		size_t n_out = 0, n = fill_rounds(all, 1 + (size_t)i % 40, &random, o, out, &n_out);

		assert_int_equal(order_finish(o), 0);
		while (order_next(o, &w))
			out[n_out++] = (struct timed){ w.time_ns, number(&w) };
		qsort(all, n, sizeof(*all), compare_times);
		assert_int_equal(n_out, n);
		assert_memory_equal(out, all, n * sizeof(*all));
		assert_int_equal(order_n_late(o), 0);
		order_free(o);
	}
	free(all);
	free(out);
}

/* Whatever the times and the bound, each record comes out once; and late ones are those out of
 * order. */
static void test_every_record_comes_out_once(void **state)
{
	uint64_t random = 4;

	for (int i = 0; i < 200; i++) {
		struct order *o = make(1 + random_below(&random, 60));
		size_t n = random_below(&random, 2000), n_out = 0;
		uint8_t *seen = calloc(n + 1, 1);
		uint64_t last = 0, n_back = 0;
		struct waiting w;

		assert_non_null(seen);
		for (size_t k = 0; k <= n; k++) {
			if (k < n)
				add(o, 1 + random_below(&random, 300), k);
			if (k == n)
				assert_int_equal(order_finish(o), 0);
			else if (random_below(&random, 40) == 0)
				assert_int_equal(order_finish_round(o), 0);
			while (order_next(o, &w)) {
				assert_false(seen[number(&w)]);
				seen[number(&w)] = 1;
				n_back += w.time_ns < last;
				last = w.time_ns;
				n_out++;
			}
		}
		assert_int_equal(n_out, n);
		assert_true(order_n_late(o) >= n_back);
		free(seen);
		order_free(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_goes_out_before_a_round_ends),
		cmocka_unit_test(test_a_round_lets_out_what_the_one_before_held),
		cmocka_unit_test(test_one_that_comes_too_late_is_counted_and_not_lost),
		cmocka_unit_test(test_one_without_a_time_stays_behind_the_one_before),
		cmocka_unit_test(test_too_many_are_let_out_the_older_half_first),
		cmocka_unit_test(test_chunks_are_held_as_long_as_their_records),
		cmocka_unit_test(test_chunks_are_bounded_in_number),
		cmocka_unit_test(test_rounds_of_rings_come_out_as_qsort_has_them),
		cmocka_unit_test(test_every_record_comes_out_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
