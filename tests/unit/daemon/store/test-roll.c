/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows that have aged become one, which counts exactly what they did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/retention/tiers.h"
#include "daemon/store/store.h"
#include "tests/support/profile-totals.h"
#include "tests/support/random-profile.h"
#include "tests/support/rolled-store.h"
#include "tests/support/temp-store.h"

#define SECOND 1000000ULL
#define N      120 /* windows of 10 s */
#define N_MAX  (2 * N)

/* Under sanitizers each process takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define KILL_STEP 499
#else
#define KILL_STEP 151
#endif

static const struct store_settings settings = {
	.tiers = { .rows = { { 10 * SECOND, 100 * SECOND },
			     { 60 * SECOND, 600 * SECOND },
			     { 120 * SECOND, 3600 * SECOND } },
		   .n = 3 },
};

/* Windows as they are listed. */
struct listed {
	struct window rows[N_MAX];
	size_t n;
};

static size_t n_pruned, n_exact; /* sums that were compared */

static int set_up(void **state)
{
	struct temp_store *stored = malloc(sizeof(*stored));

	assert_non_null(stored);
	temp_store_init(stored);
	*state = stored;
	return 0;
}

static int tear_down(void **state)
{
	temp_store_done(*state);
	free(*state);
	return 0;
}

/* Those of random profiles; test-day.c has processes that have gone. */
static bool all_are_alive(int32_t pid)
{
	return true;
}

static struct store *open_store(const char *path)
{
	struct store *store = temp_store_open(path, 0);

	store_set_settings(store, &settings);
	store_set_alive(store, all_are_alive);
	return store;
}

/* Of window @i: of one source, unless it says that its CPUs are others. */
static struct profile *make_profile(uint64_t i, uint32_t n_cpus)
{
	struct profile *p = random_profile(i, 0);

	p->info =
		(struct profile_info){ .n_cpus = n_cpus, .start_ns = i * 10, .end_ns = i * 10 + 9 };
	return p;
}

static void add(struct store *store, uint64_t i, uint32_t n_cpus)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(i, n_cpus);
	struct window window = temp_store_window(i);

	temp_store_add(store, &window, p);
}

static void fill(struct store *store)
{
	for (uint64_t i = 0; i < N; i++)
		add(store, i, 1);
}

/* 1: there may be more to do. */
static int roll(struct store *store)
{
	struct fault fault = { 0 };
	int r = store_roll(store, &fault);

	TEMP_STORE_CHECK(r >= 0, "%s", fault.text);
	return r;
}

static int on_window(const struct window *window, void *userdata)
{
	struct listed *listed = userdata;

	assert_true(listed->n < N_MAX);
	listed->rows[listed->n++] = *window;
	return 0;
}

static struct listed list(struct store *store)
{
	struct listed listed = { .n = 0 };
	struct fault fault;

	assert_int_equal(store_for_each(store, 0, UINT64_MAX, on_window, &listed, &fault), 0);
	assert_int_equal(temp_store_status(store).n_windows, listed.n);
	return listed;
}

static int compare_numbers(const void *p, const void *q)
{
	const uint64_t *a = p, *b = q;

	return (*a > *b) - (*a < *b);
}

static uint64_t *sorted_selves(const struct function_sum *sum)
{
	uint64_t *selves = calloc(sum->n_rows + 1, sizeof(*selves));

	assert_non_null(selves);
	for (size_t i = 0; i < sum->n_rows; i++)
		selves[i] = sum->rows[i].self;
	qsort(selves, sum->n_rows, sizeof(*selves), compare_numbers);
	return selves;
}

/* The counts by function are those of a window in which all of it had been sampled. */
static void assert_functions(struct store *store, struct window window, const struct profile *whole)
{
	_cleanup_(store_freep) struct store *other = temp_store_open(":memory:", 0);
	_cleanup_(function_sum_freep) struct function_sum *sum = NULL, *expected = NULL;
	_cleanup_free_ uint64_t *selves = NULL, *expected_selves = NULL;
	const struct profile_filter all = PROFILE_FILTER_INIT;
	struct window same = window;
	struct fault fault;

	same.id = temp_store_add(other, &window, whole);
	assert_int_equal(function_sum_new(&sum), 0);
	assert_int_equal(function_sum_new(&expected), 0);
	assert_int_equal(store_read_functions(store, &window, &all, sum, &fault), 1);
	assert_int_equal(store_read_functions(other, &same, &all, expected, &fault), 1);
	assert_int_equal(sum->n_rows, expected->n_rows);
	assert_true(sum->n_rows > 0 && sum->part_samples == expected->part_samples);
	selves = sorted_selves(sum);
	expected_selves = sorted_selves(expected);
	assert_memory_equal(selves, expected_selves, sum->n_rows * sizeof(*selves));
}

/* The window is the sum of those that were added in its time: returns their number. */
static uint64_t assert_sum(struct store *store, const struct window *window)
{
	uint64_t first = window->start_us / (10 * SECOND), n = window->length_us / (10 * SECOND);
	_cleanup_(profile_freep) struct profile *sum = NULL, *back = NULL;
	struct profile *parts[N_MAX];
	uint64_t samples = 0, lost = 0;

	assert_true(n > 0 && n <= N_MAX && window->start_us % (10 * SECOND) == 0 &&
		    window->length_us % (10 * SECOND) == 0);
	for (uint64_t i = 0; i < n; i++) {
		parts[i] = make_profile(first + i, 1);
		samples += temp_store_window(first + i).samples;
		lost += temp_store_window(first + i).lost;
	}
	assert_int_equal(window->id, first + 1);
	assert_int_equal(window->samples, samples);
	assert_int_equal(window->lost, lost);
	assert_string_equal(window->mode, "stack");
	assert_int_equal(profile_merge(&sum, (const struct profile *const *)parts, n), 0);
	back = temp_store_read(store, window->id);
	assert_non_null(back);
	if (n > 1 && sum->n_stacks + sum->n_streams + sum->n_branches + sum->n_blocks >
			     (size_t)STORE_SUM_ALL_ROWS) {
		assert_same_totals(sum, back);
		assert_true(back->counters.stacks_pruned > 0);
		n_pruned++;
	} else {
		assert_true(profile_equal(sum, back));
		n_exact += n > 1;
		assert_functions(store, *window, sum);
	}
	for (uint64_t i = 0; i < n; i++)
		profile_free(parts[i]);
	return n;
}

/* What was added is all there, in order. */
static void assert_all(struct store *store, uint64_t first, uint64_t end)
{
	struct listed listed = list(store);
	uint64_t next = first;

	for (size_t i = 0; i < listed.n; i++) {
		assert_int_equal(listed.rows[i].start_us, next * 10 * SECOND);
		next += assert_sum(store, &listed.rows[i]);
	}
	assert_int_equal(next, end);
}

static size_t count_of_length(const struct listed *listed, uint64_t seconds)
{
	size_t n = 0;

	for (size_t i = 0; i < listed->n; i++)
		n += listed->rows[i].length_us == seconds * SECOND;
	return n;
}

/* The earliest end of the last 30 windows is at 910 s: so what starts before 780 s is in minutes,
 * and what starts before 240 s is in windows of two. */
static void test_windows_become_longer_with_age(void **state)
{
	_cleanup_(store_freep) struct store *store = open_store(":memory:");
	struct listed listed;

	fill(store);
	temp_store_roll_all(store);
	listed = list(store);
	assert_int_equal(count_of_length(&listed, 120), 2);
	assert_int_equal(count_of_length(&listed, 60), 9);
	assert_int_equal(count_of_length(&listed, 10), N - 78);
	assert_int_equal(listed.n, 2 + 9 + N - 78);
	n_pruned = n_exact = 0;
	assert_all(store, 0, N);
	assert_true(n_pruned > 0 && n_exact > 0);
}

/* While they are added, one step after each; and with a new start now and then. */
static void test_sums_are_exact_while_windows_are_added(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = open_store(stored->path);

	for (uint64_t i = 0; i < N; i++) {
		add(store, i, 1);
		roll(store);
		if (i % 25 != 24)
			continue;
		assert_all(store, 0, i + 1);
		store = store_free(store);
		temp_store_check(stored->path);
		store = open_store(stored->path);
	}
	temp_store_roll_all(store);
	assert_all(store, 0, N);
}

/* What is counted by user is that of a window in which all of it had been sampled. */
static void test_shares_are_those_of_the_sum(void **state)
{
	static const char *const sql =
		"SELECT group_concat(uid || ':' || rows) FROM (SELECT uid, rows FROM user_rows "
		"WHERE window = (SELECT min(window) FROM user_rows) ORDER BY uid)";
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = open_store(stored->path);
	_cleanup_(profile_freep) struct profile *sum = NULL;
	char rows[2][256];
	struct window window;
	sqlite3 *db;

	fill(store);
	temp_store_roll_all(store);
	window = list(store).rows[0];
	sum = temp_store_read(store, window.id);
	store = store_free(store);
	db = temp_store_connect(stored->path);
	temp_store_ask(db, sql, rows[0], sizeof(rows[0]));
	sqlite3_close(db);
	remove(stored->path);
	store = open_store(stored->path);
	temp_store_add(store, &window, sum);
	store = store_free(store);
	db = temp_store_connect(stored->path);
	temp_store_ask(db, sql, rows[1], sizeof(rows[1]));
	sqlite3_close(db);
	assert_true(strlen(rows[0]) > 0);
	assert_string_equal(rows[0], rows[1]);
}

/* Neither of another source, nor where nothing was sampled for long in between. */
static void test_only_neighbours_that_are_alike(void **state)
{
	_cleanup_(store_freep) struct store *store = open_store(":memory:");
	struct listed listed;

	for (uint64_t i = 0; i < N; i++)
		if (i < 6 || i > 11)
			add(store, i, i == 3 ? 2 : 1);
	temp_store_roll_all(store);
	listed = list(store);
	assert_int_equal(listed.rows[0].length_us, 30 * SECOND);
	assert_int_equal(listed.rows[1].length_us, 10 * SECOND);
	assert_int_equal(listed.rows[2].length_us, 20 * SECOND);
	assert_int_equal(listed.rows[3].start_us, 120 * SECOND);
	assert_int_equal(listed.rows[3].length_us, 120 * SECOND);
}

static void test_the_oldest_go_at_the_end_of_their_time(void **state)
{
	struct store_settings few = settings;
	_cleanup_(store_freep) struct store *store = open_store(":memory:");
	struct listed listed;

	few.tiers.rows[2].keep_us = 600 * SECOND;
	store_set_settings(store, &few);
	fill(store);
	temp_store_roll_all(store);
	listed = list(store);
	assert_int_equal(listed.rows[0].start_us,
			 300 * SECOND); /* what ends before 310 s is gone */
	assert_int_equal(temp_store_status(store).n_removed, 3);
	assert_all(store, 30, N);
}

/* With tiers, of which the last one keeps windows for longer, and without. */
static void test_none_is_older_than_the_retention(void **state)
{
	for (size_t n_tiers = 0; n_tiers <= 3; n_tiers += 3) {
		struct store_settings few = settings;
		_cleanup_(store_freep) struct store *store = open_store(":memory:");
		struct listed listed;

		few.max_retention_us = 305 * SECOND;
		few.tiers.n = n_tiers;
		store_set_settings(store, &few);
		fill(store);
		temp_store_roll_all(store);
		listed = list(store);
		/* what ends before 605 s is gone, and nothing else */
		assert_int_equal(listed.rows[0].start_us, 600 * SECOND);
		assert_int_equal(listed.rows[0].length_us, (n_tiers > 0 ? 60 : 10) * SECOND);
		assert_true(temp_store_status(store).n_removed > 0);
		assert_all(store, 60, N);
	}
}

/* Who has listed windows finds them, however long it takes. */
static void test_held_windows_stay(void **state)
{
	_cleanup_(store_freep) struct store *store = open_store(":memory:");

	fill(store);
	store_hold(store);
	store_hold(store);
	assert_int_equal(roll(store), 0);
	store_release(store);
	assert_int_equal(roll(store), 0);
	assert_int_equal(list(store).n, N);
	store_release(store);
	temp_store_roll_all(store);
	assert_true(list(store).n < N);
}

static void test_without_tiers_nothing_is_merged(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);

	fill(store);
	assert_int_equal(roll(store), 0);
	assert_int_equal(list(store).n, N);
}

/* Statements that may still be begun; below zero: any number. */
static long n_left = -1;

static int on_statement(unsigned int what, void *userdata, void *p, void *x)
{
	if (n_left >= 0 && n_left-- == 0)
		raise(SIGKILL);
	return 0;
}

static int on_connection(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, on_statement, NULL);
}

/* A process makes one step, but for statement @n from its start and what follows. Whether it was
 * killed. */
static bool kill_at(const char *path, long n)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct store *store;

		sqlite3_auto_extension((void (*)(void))on_connection);
		store = open_store(path);
		n_left = n;
		TEMP_STORE_CHECK(roll(store) > 0, "nothing to do");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0);
	return WIFSIGNALED(status);
}

static void test_killed_at_any_statement(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = open_store(stored->path);
	long n = 0;

	for (uint64_t i = 0; i < 45; i++)
		add(store, i, 1);
	store_free(store);
	for (bool killed = true; killed; n++) {
		killed = kill_at(stored->path, n * KILL_STEP);
		temp_store_check(stored->path);
		store = open_store(stored->path);
		assert_int_equal(list(store).n, killed ? 45 : 45 - 5);
		assert_all(store, 0, 45);
		store_free(store);
	}
	print_message("killed %ld times\n", n - 1);
	assert_true(n > 5);
}

/* As a damaged database has them. */
static void test_times_of_any_size(void **state)
{
	static const char *const damages[] = {
		"UPDATE window SET start_us = 9223372036854775807 - id WHERE id % 3 = 0",
		"UPDATE window SET length_us = 9223372036854775807 WHERE id % 3 = 0",
		"UPDATE window SET start_us = -9223372036854775807 WHERE id % 3 = 0",
		"UPDATE window SET start_us = -9223372036854775807",
		"UPDATE window SET start_us = 9223372036854775807",
	};
	const struct temp_store *stored = *state;

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		struct store *store = open_store(stored->path);
		sqlite3 *db;

		fill(store);
		db = temp_store_connect(stored->path);
		assert_int_equal(sqlite3_exec(db, damages[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		temp_store_roll_all(store);
		store_free(store);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_become_longer_with_age),
		cmocka_unit_test_setup_teardown(test_sums_are_exact_while_windows_are_added, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_shares_are_those_of_the_sum, set_up,
						tear_down),
		cmocka_unit_test(test_only_neighbours_that_are_alike),
		cmocka_unit_test(test_the_oldest_go_at_the_end_of_their_time),
		cmocka_unit_test(test_none_is_older_than_the_retention),
		cmocka_unit_test(test_held_windows_stay),
		cmocka_unit_test(test_without_tiers_nothing_is_merged),
		cmocka_unit_test_setup_teardown(test_times_of_any_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_at_any_statement, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
