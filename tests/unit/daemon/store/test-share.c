/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who takes more of the store than a fair share loses rows of their own, and nobody else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/store/store.h"
#include "tests/support/seeded-store.h"

#define MAX_BYTES   (3u << 20)
#define MAX_TRIM_US (2000 * 1000) /* also under sanitizers */
#define WINDOW_US   10000000ULL
#define HEAVY       1000
#define LIGHT       1001

static uint32_t add_process(struct profile *p, int32_t pid, uint32_t uid, const char *comm)
{
	const struct profile_process process = { .pid = pid, .comm = comm, .uid = uid };
	int64_t i = profile_add_process(p, &process);

	assert_true(i >= 0);
	return (uint32_t)i;
}

static uint32_t add_stack(struct profile *p, uint32_t process, uint32_t parent,
			  struct location frame, uint64_t samples)
{
	const struct profile_stack stack = { .parent = parent,
					     .process = process,
					     .frame = frame,
					     .samples = samples,
					     .weight = samples * 1000 };
	int64_t i = profile_add_stack(p, &stack);

	p->processes[process].samples += samples;
	p->counters.samples += samples;
	p->counters.weight += samples * 1000;
	assert_true(i >= 0);
	return (uint32_t)i;
}

/* The same in each window, and a little that is not. */
static void add_light(struct profile *p, uint32_t object, uint64_t i)
{
	uint32_t process = add_process(p, 2, LIGHT, "light"), at = PROFILE_NONE;

	for (uint32_t k = 0; k < 8; k++)
		at = add_stack(p, process, at, (struct location){ object, 0x1000 + k }, k + i % 3);
	add_stack(p, process, at, (struct location){ object, 0x2000 + i % 16 }, 5);
}

/* @n samples of random recursion, @deep at most, in functions of which there are few. */
static void add_heavy(struct profile *p, uint32_t object, uint64_t i, uint32_t n, uint32_t deep)
{
	uint32_t process = add_process(p, 1, HEAVY, "heavy");
	uint64_t random = i * 2 + 1;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t depth = 1 + random_below(&random, deep), at = PROFILE_NONE;

		for (uint32_t d = 0; d < depth; d++)
			at = add_stack(p, process, at,
				       (struct location){ object, random_below(&random, 32) * 16 },
				       d + 1 == depth);
	}
}

/* Window @i, with this number of samples of the heavy user. */
static struct profile *make_profile(uint64_t i, uint32_t n_heavy)
{
	const struct profile_object object = { .kind = OBJECT_FILE, .path = "/bin/both" };
	struct profile_function function = { .size = 16, .name = "f" };
	struct profile *p;

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_add_object(p, &object), 0);
	for (uint32_t k = 0; k < 32; k++) {
		function.start = k * 16;
		assert_true(profile_add_function(p, &function) >= 0);
	}
	add_light(p, 0, i);
	if (n_heavy > 0)
		add_heavy(p, 0, i, n_heavy, 40);
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

#define N_TRIES 600

/* Windows come much faster than a daemon's: as there, they wait while the log is being copied. */
static void add_window(struct store *store, uint64_t i, uint32_t n_heavy)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(i, n_heavy);
	struct window window = temp_store_window(i);
	struct fault fault = { 0 };
	int64_t id = 0;
	int r;

	window.samples = p->counters.samples;
	r = store_add(store, &window, p, &id, &fault);
	for (int k = 0; r == -ENOSPC && k < N_TRIES; k++) {
		usleep(100000);
		r = store_add(store, &window, p, &id, &fault);
	}
	TEMP_STORE_CHECK(r == 0, "%s", fault.text);
	assert_int_equal(id, i);
}

static const struct profile_filter light = { .uid = "1001" }; /* LIGHT */

/* The rows of the light user are those that were added, and all sums are what they were. */
static void assert_window(struct store *store, uint64_t i, uint32_t n_heavy)
{
	_cleanup_(profile_freep) struct profile *was = make_profile(i, n_heavy);
	_cleanup_(profile_freep) struct profile *back = temp_store_read(store, (int64_t)i);
	_cleanup_(profile_freep) struct profile *part = NULL, *part_was = NULL;
	uint64_t samples = 0, weight = 0;

	assert_non_null(back);
	assert_int_equal(profile_filter(&part, back, &light), 0);
	assert_int_equal(profile_filter(&part_was, was, &light), 0);
	part->counters = part_was->counters; /* those that are not of processes */
	assert_true(profile_equal(part, part_was));
	for (size_t k = 0; k < back->n_stacks; k++) {
		samples += back->stacks[k].samples;
		weight += back->stacks[k].weight;
	}
	assert_int_equal(samples, was->counters.samples);
	assert_int_equal(weight, was->counters.weight);
	assert_int_equal(back->counters.samples, was->counters.samples);
	assert_int_equal(back->n_processes, was->n_processes);
	for (size_t k = 0; k < back->n_processes; k++)
		assert_int_equal(back->processes[k].samples, was->processes[k].samples);
}

/* Minutes of an attack: all windows are there, and within the limit. */
static void test_deep_recursion_pushes_out_its_own_rows(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, MAX_BYTES);
	struct store_status status;
	uint64_t before, longest_us = 0; /* of the CPU */

	for (uint64_t i = 1; i <= 200; i++) {
		before = clock_us(CLOCK_PROCESS_CPUTIME_ID);
		add_window(store, i, 200);
		longest_us = MAX(longest_us, clock_us(CLOCK_PROCESS_CPUTIME_ID) - before);
		assert_true(temp_store_file_bytes(stored->path) <= MAX_BYTES + MAX_BYTES / 8);
	}
	print_message("at most %llu ms for a window\n", (unsigned long long)longest_us / 1000);
	assert_true(longest_us < MAX_TRIM_US);
	status = temp_store_status(store);
	assert_int_equal(status.n_windows, 200);
	for (uint64_t i = 1; i <= 200; i++)
		assert_window(store, i, 200);
	store = store_free(store);
	temp_store_check(stored->path);
}

/* It begins when the store is full of what somebody else did before: who keeps half of it. */
static void test_an_attack_on_a_full_store(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, MAX_BYTES);
	uint64_t i = 0, first, n_before;

	while (temp_store_status(store).n_removed == 0)
		add_window(store, ++i, 0);
	first = i;
	n_before = temp_store_status(store).n_windows;
	while (i < first + 60)
		add_window(store, ++i, 200);
	assert_true(temp_store_status(store).n_windows > n_before / 5 * 2);
	for (uint64_t k = i - temp_store_status(store).n_windows + 1; k <= i;
	     k += k < first ? 50 : 1)
		assert_window(store, k, k > first ? 200 : 0);
	assert_true(temp_store_file_bytes(stored->path) <= MAX_BYTES + MAX_BYTES / 8);
	store = store_free(store);
	temp_store_check(stored->path);
}

/* Opened anew now and then, it knows whose share is how large. */
static void test_shares_are_known_after_a_restart(void **state)
{
	struct temp_store *stored = *state;
	uint64_t n = 0;

	for (int k = 0; k < 10; k++) {
		_cleanup_(store_freep) struct store *store =
			temp_store_open(stored->path, MAX_BYTES / 2);

		for (int i = 0; i < 1 + k; i++)
			add_window(store, ++n, 150);
		for (uint64_t i = 1; i <= n; i++)
			assert_window(store, i, 150);
		store = store_free(store);
		temp_store_check(stored->path);
	}
}

/* Users alike: the oldest windows go, and the others are as they were. */
static void test_equal_users_lose_whole_windows(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, MAX_BYTES / 4);
	uint64_t n = 0;

	while (temp_store_status(store).n_removed < 20)
		add_window(store, ++n, 0);
	for (uint64_t i = n - temp_store_status(store).n_windows + 1; i <= n; i++)
		assert_window(store, i, 0);
	store = store_free(store);
	temp_store_check(stored->path);
}

/* Adds up the samples of the windows that a stored one is the sum of; the light user's are there.
 */
static int check_sum(const struct window *window, void *userdata)
{
	struct store *store = userdata;
	uint64_t first = window->start_us / WINDOW_US, n = window->length_us / WINDOW_US;
	_cleanup_(profile_freep) struct profile *back = temp_store_read(store, window->id);
	_cleanup_(profile_freep) struct profile *part = NULL, *was = NULL, *part_was = NULL;
	struct profile *parts[6];

	assert_true(n == 1 || n == 5 || n == 6);
	for (uint64_t i = 0; i < n; i++)
		parts[i] = make_profile(first + i, 150);
	assert_int_equal(profile_merge(&was, (const struct profile *const *)parts, n), 0);
	for (uint64_t i = 0; i < n; i++)
		profile_free(parts[i]);
	assert_int_equal(window->samples, was->counters.samples);
	assert_int_equal(back->counters.samples, was->counters.samples);
	assert_int_equal(profile_filter(&part, back, &light), 0);
	assert_int_equal(profile_filter(&part_was, was, &light), 0);
	part->counters = part_was->counters; /* those that are not of processes */
	assert_true(profile_equal(part, part_was));
	return 0;
}

/* Until this number of windows is left: merging waits while the log is long, and the thread that
 * empties it may come late on a busy machine. */
static void roll_down_to(struct store *store, uint64_t n_windows)
{
	struct fault fault;

	for (int i = 0; i < 12000 && temp_store_status(store).n_windows > n_windows; i++) {
		assert_true(store_roll(store, &fault) >= 0);
		usleep(5000);
	}
}

/* What is left of 160 windows of 10 s: the earliest end of the last 30 is at 1320 s, so that of
 * those that are older than 1120 s, whole minutes are merged: 18, of which the first has five. */
#define N_MERGED (18 + 160 - 107)

static bool is_alive(int32_t pid)
{
	return true;
}

/* Windows are merged and pruned by turns, and what they referred to is reclaimed. */
static void test_merged_windows_are_pruned_as_others_are(void **state)
{
	static const struct store_settings settings = {
		.max_bytes = MAX_BYTES / 2,
		.tiers = { .rows = { { WINDOW_US, 20 * WINDOW_US },
				     { 6 * WINDOW_US, 6000 * WINDOW_US } },
			   .n = 2 },
	};
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	struct store_status status;
	struct fault fault;

	store_set_settings(store, &settings);
	store_set_alive(store, is_alive);
	for (uint64_t i = 1; i <= 160; i++) {
		add_window(store, i, 150);
		for (int k = 0; k < 3; k++)
			assert_true(store_roll(store, &fault) >= 0);
	}
	roll_down_to(store, N_MERGED); /* and no minute is half merged */
	status = temp_store_status(store);
	assert_int_equal(status.n_removed, 0);
	assert_int_equal(status.n_windows, N_MERGED);
	assert_int_equal(store_for_each(store, 6 * WINDOW_US, UINT64_MAX, check_sum, store, &fault),
			 0);
	assert_true(temp_store_file_bytes(stored->path) <= MAX_BYTES / 2 + MAX_BYTES / 8);
	store = store_free(store);
	temp_store_check(stored->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_deep_recursion_pushes_out_its_own_rows),
		STORE_TEST(test_an_attack_on_a_full_store),
		STORE_TEST(test_shares_are_known_after_a_restart),
		STORE_TEST(test_equal_users_lose_whole_windows),
		STORE_TEST(test_merged_windows_are_pruned_as_others_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
