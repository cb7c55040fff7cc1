/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A day of windows of 10 s, rolled up to hours: what each key has in an hour is the sum of what it
 * had in 360 windows, but for what the bound of the error says was pruned. Totals are exact. What
 * only the windows of 10 s referred to has gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/store/store.h"
#include "tests/support/random.h"
#include "tests/support/seeded-store.h"

#define SECOND    1000000ULL
#define HOUR      (3600 * SECOND)
#define N_HOURS   24
#define OF_HOUR   360 /* windows */
#define N_ROOTS   40
#define N_LEAVES  100 /* of a root */
#define N_DRAWN   40  /* stacks in a window */
#define N_COMMS   3
#define ALIVE_PID 7

#ifdef __SANITIZE_ADDRESS__
#define N_TESTED 3
#else
#define N_TESTED N_HOURS
#endif

/* As soon as they can be: all but the last windows of the day are rolled up. */
static const struct store_settings settings = {
	.tiers = { .rows = { { 10 * SECOND, 60 * SECOND },
			     { 60 * SECOND, 600 * SECOND },
			     { 600 * SECOND, HOUR },
			     { HOUR, 90 * 24 * HOUR } },
		   .n = 4 },
};

/* What was added, by the hour. */
struct hour {
	uint64_t leaves[N_ROOTS][N_LEAVES], roots[N_ROOTS], by_comm[N_COMMS + 1];
	uint64_t samples, lost, n_processes[N_COMMS];
};

static struct hour hours[N_HOURS + 1];

static bool is_alive(int32_t pid)
{
	return pid == ALIVE_PID;
}

static struct location root_place(uint64_t root)
{
	return (struct location){ 0, root * 0x1000 };
}

static struct location leaf_place(uint64_t root, uint64_t leaf)
{
	return (struct location){ 0, root * 0x1000 + 0x100 + leaf };
}

static uint32_t add_stack(struct profile *p, uint32_t process, uint32_t parent,
			  struct location frame, uint64_t samples)
{
	const struct profile_stack stack = { .parent = parent,
					     .process = process,
					     .frame = frame,
					     .samples = samples,
					     .weight = samples * 10 };
	int64_t i = profile_add_stack(p, &stack);

	assert_true(i >= 0);
	p->processes[process].samples += samples;
	p->counters.samples += samples;
	p->counters.weight += samples * 10;
	return (uint32_t)i;
}

static void add_process(struct profile *p, int32_t pid, int comm)
{
	static const char *const comms[N_COMMS + 1] = { "cc1", "sh", "ld", "server" };
	const struct profile_process process = {
		.pid = pid, .comm = comms[comm], .executable = comms[comm], .uid = 1000
	};

	assert_true(profile_add_process(p, &process) >= 0);
}

/* Process 0 is there all day, the others in this window only. */
static struct profile *make(uint64_t i, struct hour *hour)
{
	const struct profile_object object = { .kind = OBJECT_FILE, .path = "/bin/x" };
	uint64_t state = i * 2 + 1;
	struct profile *p;

	assert_int_equal(profile_new(&p), 0);
	assert_int_equal(profile_add_object(p, &object), 0);
	for (uint64_t root = 0; root < N_ROOTS; root++) {
		const struct profile_function function = { 0, root * 0x1000, 0x1000, "f", 0 };

		assert_true(profile_add_function(p, &function) >= 0);
	}
	add_process(p, ALIVE_PID, N_COMMS);
	for (int comm = 0; comm < N_COMMS; comm++)
		add_process(p, (int32_t)(1000 + i * N_COMMS) + comm, comm);
	for (int k = 0; k < N_DRAWN; k++) {
		uint64_t root = random_below(&state, N_ROOTS), n = 1 + random_below(&state, 9);
		uint64_t leaf = random_below(&state, 1 + random_below(&state, N_LEAVES));
		uint32_t process = random_below(&state, 2) ? 0 : 1 + random_below(&state, N_COMMS);
		uint32_t at = add_stack(p, process, PROFILE_NONE, root_place(root), 0);

		add_stack(p, process, at, leaf_place(root, leaf), n);
		hour->leaves[root][leaf] += n;
		hour->roots[root] += n;
		hour->by_comm[process == 0 ? N_COMMS : process - 1] += n;
		hour->samples += n;
	}
	for (int comm = 0; comm < N_COMMS; comm++)
		hour->n_processes[comm]++;
	assert_int_equal(profile_finalize(p), 0);
	return p;
}

static void fill(struct store *store)
{
	for (uint64_t i = 0; i < N_TESTED * OF_HOUR + OF_HOUR / 2; i++) {
		struct hour *hour = &hours[i / OF_HOUR];
		_cleanup_(profile_freep) struct profile *p = make(i, hour);
		struct window window = temp_store_window(i);
		struct fault fault = { 0 };
		int r;

		window.samples = p->counters.samples;
		hour->lost += window.lost;
		temp_store_add(store, &window, p);
		do
			r = store_roll(store, &fault);
		while (r > 0);
		TEMP_STORE_CHECK(r >= 0, "%s", fault.text);
	}
}

/* Of a root as the function of its samples, with and without their callers. */
static void assert_leaves(const struct hour *hour, const struct profile *p)
{
	static uint64_t found[N_ROOTS][N_LEAVES], roots[N_ROOTS];
	uint64_t nowhere = 0, error = p->counters.stacks_error, missing = 0;

	memset(found, 0, sizeof(found));
	memset(roots, 0, sizeof(roots));
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];
		uint64_t root = stack->frame.offset / 0x1000,
			 leaf = stack->frame.offset % 0x1000 - 0x100;

		if (stack->frame.object == PROFILE_NONE) {
			nowhere += stack->samples;
			continue;
		}
		roots[root] += stack->samples;
		if (stack->samples > 0)
			found[root][leaf] += stack->samples - stack->pruned;
	}
	for (size_t root = 0; root < N_ROOTS; root++) {
		assert_in_range(hour->roots[root] - roots[root], 0, nowhere);
		for (size_t leaf = 0; leaf < N_LEAVES; leaf++) {
			uint64_t exact = hour->leaves[root][leaf], n = found[root][leaf];

			assert_in_range(exact - n, 0, error * (N_COMMS + 1));
			missing += exact - n;
		}
	}
	assert_true(error > 0 && missing > 0);
	assert_int_equal(missing, p->counters.stacks_pruned);
}

static void assert_processes(const struct hour *hour, const struct profile *p)
{
	static const char *const comms[N_COMMS] = { "cc1", "sh", "ld" };
	size_t n_gone = 0;

	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *process = &p->processes[i];

		if (process->pid == ALIVE_PID)
			assert_int_equal(process->samples, hour->by_comm[N_COMMS]);
		for (size_t comm = 0; comm < N_COMMS; comm++) {
			if (strcmp(process->comm, comms[comm]) != 0)
				continue;
			assert_int_equal(process->pid, -1);
			assert_int_equal(process->samples, hour->by_comm[comm]);
			assert_int_equal(process->n_gone, hour->n_processes[comm]);
			n_gone++;
		}
	}
	assert_int_equal(p->n_processes, N_COMMS + 1);
	assert_int_equal(n_gone, N_COMMS);
}

static int on_window(const struct window *window, void *userdata)
{
	const struct hour *hour = &hours[window->start_us / HOUR];
	_cleanup_(profile_freep) struct profile *p = NULL;
	uint64_t samples = 0;

	if (window->length_us != HOUR)
		return 0;
	p = temp_store_read(userdata, window->id);
	assert_int_equal(window->samples, hour->samples);
	assert_int_equal(window->lost, hour->lost);
	assert_int_equal(p->counters.samples, hour->samples);
	assert_int_equal(p->counters.weight, hour->samples * 10);
	for (size_t i = 0; i < p->n_stacks; i++)
		samples += p->stacks[i].samples;
	assert_int_equal(samples, hour->samples);
	assert_leaves(hour, p);
	assert_processes(hour, p);
	return 0;
}

/* 25 thousand processes came and went; a part of an hour is not merged yet. */
static void assert_little_is_left(const char *path)
{
	sqlite3 *db = temp_store_connect(path);

	assert_true(temp_store_number(db, "SELECT count(*) FROM process") < 4 * OF_HOUR);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM window WHERE length_us = "
					       "3600000000"),
			 N_TESTED - 1);
	sqlite3_close(db);
}

static void test_a_day_is_the_sum_of_its_windows(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct fault fault;

	store_set_settings(store, &settings);
	store_set_alive(store, is_alive);
	fill(store);
	assert_int_equal(store_for_each(store, 0, UINT64_MAX, on_window, store, &fault), 0);
	store_free(store);
	temp_store_check(stored->path);
	assert_little_is_left(stored->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_a_day_is_the_sum_of_its_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
