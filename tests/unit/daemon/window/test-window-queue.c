/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>

#include "daemon/window/window-queue.h"

#define S 1000000ull /* in microseconds */

static struct window_queue *make(size_t max)
{
	struct window_queue *q = NULL;

	assert_int_equal(window_queue_new(&q, max), 0);
	return q;
}

/* A window of a second with @samples of process @pid. */
static void put(struct window_queue *q, uint64_t start_us, int32_t pid, uint64_t samples, bool open)
{
	struct window_profile c = { .window = { .start_us = start_us,
						.length_us = S,
						.samples = samples,
						.lost = 1,
						.open = open } };
	struct profile_process process = { .pid = pid, .comm = "x", .samples = samples };

	assert_int_equal(profile_new(&c.profile), 0);
	assert_true(profile_add_process(c.profile, &process) >= 0);
	c.profile->counters.samples = samples;
	assert_int_equal(window_queue_put(q, &c), 0);
}

static bool is_readable(const struct window_queue *q)
{
	struct pollfd fd = { .fd = window_queue_fd(q), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void assert_taken(struct window_queue *q, uint64_t start_us, uint64_t length_us,
			 uint64_t samples, size_t n_processes, bool open)
{
	struct window_profile c;

	assert_true(is_readable(q));
	assert_true(window_queue_take(q, &c));
	assert_int_equal(c.window.start_us, start_us);
	assert_int_equal(c.window.length_us, length_us);
	assert_int_equal(c.window.samples, samples);
	assert_int_equal(c.window.open, open);
	assert_int_equal(c.profile->counters.samples, samples);
	assert_int_equal(c.profile->n_processes, n_processes);
	profile_free(c.profile);
}

static void test_first_in_first_out(void **state)
{
	struct window_queue *q = make(3);
	struct window_profile c;

	assert_false(is_readable(q));
	assert_false(window_queue_take(q, &c));
	put(q, 10 * S, 1, 5, false);
	put(q, 11 * S, 2, 7, false);
	assert_int_equal(window_queue_count(q), 2);
	assert_taken(q, 10 * S, S, 5, 1, false);
	assert_int_equal(window_queue_count(q), 1);
	put(q, 12 * S, 3, 9, false);
	assert_taken(q, 11 * S, S, 7, 1, false);
	assert_taken(q, 12 * S, S, 9, 1, false);
	assert_false(is_readable(q));
	assert_false(window_queue_take(q, &c));
	window_queue_free(q);
}

/* The main thread is busy: nothing is dropped, the last window gets longer. */
static void test_a_full_queue_merges(void **state)
{
	struct window_queue *q = make(2);

	put(q, 10 * S, 1, 5, false);
	assert_true(window_queue_has_room(q));
	put(q, 11 * S, 2, 7, false);
	assert_false(window_queue_has_room(q));
	put(q, 12 * S, 3, 9, false);
	put(q, 13 * S, 2, 11, false); /* the same process again */
	assert_taken(q, 10 * S, S, 5, 1, false);
	assert_true(window_queue_has_room(q));
	assert_taken(q, 11 * S, 3 * S, 27, 2, false);
	assert_false(is_readable(q));
	window_queue_free(q);
}

/* The rest of a window is merged to the part of it that waits. */
static void test_a_part_and_its_rest(void **state)
{
	struct window_queue *q = make(1);

	put(q, 10 * S, 1, 5, true);
	put(q, 10 * S, 2, 7, false);
	assert_taken(q, 10 * S, S, 12, 2, false);
	window_queue_free(q);
}

static void test_the_wall_clock_set_back(void **state)
{
	struct window_queue *q = make(1);

	put(q, 5000 * S, 1, 5, false);
	put(q, 10 * S, 2, 7, false);
	assert_taken(q, 5000 * S, 2 * S, 12, 2, false);
	window_queue_free(q);
}

static void test_woken_for_ever(void **state)
{
	struct window_queue *q = make(1);
	struct window_profile c;

	put(q, 10 * S, 1, 5, false);
	window_queue_wake(q);
	assert_taken(q, 10 * S, S, 5, 1, false);
	assert_true(is_readable(q));
	assert_false(window_queue_take(q, &c));
	assert_true(is_readable(q));
	window_queue_free(q);
}

static void test_what_waits_is_freed(void **state)
{
	struct window_queue *q = make(4);

	put(q, 10 * S, 1, 5, false);
	put(q, 11 * S, 1, 5, true);
	window_queue_free(q);
}

#define N_WINDOWS 2000

static void *produce(void *userdata)
{
	for (uint64_t i = 0; i < N_WINDOWS; i++)
		put(userdata, i * S, (int32_t)i % 7, i, false);
	window_queue_wake(userdata);
	return NULL;
}

/* However the two threads meet: the sums are right, and so is the order of time. */
static void test_two_threads(void **state)
{
	struct window_queue *q = make(3);
	uint64_t samples = 0, lost = 0, end_us = 0;
	struct window_profile c;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, produce, q), 0);
	while (end_us < N_WINDOWS * S) {
		struct pollfd fd = { .fd = window_queue_fd(q), .events = POLLIN };

		assert_int_equal(poll(&fd, 1, 10000), 1);
		while (window_queue_take(q, &c)) {
			assert_int_equal(c.window.start_us, end_us);
			assert_int_equal(c.window.samples, c.profile->counters.samples);
			end_us = c.window.start_us + c.window.length_us;
			samples += c.window.samples;
			lost += c.window.lost;
			profile_free(c.profile);
		}
	}
	pthread_join(thread, NULL);
	assert_int_equal(samples, N_WINDOWS * (N_WINDOWS - 1) / 2);
	assert_int_equal(lost, N_WINDOWS);
	window_queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_in_first_out),
		cmocka_unit_test(test_a_full_queue_merges),
		cmocka_unit_test(test_a_part_and_its_rest),
		cmocka_unit_test(test_the_wall_clock_set_back),
		cmocka_unit_test(test_woken_for_ever),
		cmocka_unit_test(test_what_waits_is_freed),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
