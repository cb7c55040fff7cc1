/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vacuuming: the oldest windows go, as many as it takes, and nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/store/mark.h"
#include "daemon/store/vacuum.h"
#include "tests/support/rolled-store.h"
#include "tests/support/seeded-store.h"

#define N      60
#define SECOND 1000000ULL

static void add_all(struct store *store)
{
	for (uint64_t i = 1; i <= N; i++)
		assert_int_equal(add_seed(store, i), i);
}

/* To the end; the number of pieces. */
static unsigned int vacuum(struct store *store, struct store_vacuum *vacuum)
{
	struct fault fault = {};
	unsigned int n = 0;
	int r;

	for (;; n++) {
		r = store_vacuum_step(store, vacuum, &fault);
		if (r < 0)
			fail_msg("%s", fault.text);
		if (r == 0)
			return n;
		if (r == 2)
			store_checkpoint_wait(&store->checkpoint, 60000);
	}
}

static void assert_there_from(struct store *store, int64_t first)
{
	for (int64_t id = 1; id <= N; id++) {
		if (id >= first) {
			assert_seed_is_back(store, id, (uint64_t)id);
			continue;
		}
		assert_null(temp_store_read(store, id));
	}
	assert_int_equal(temp_store_status(store).n_windows, N - first + 1);
}

/* The file itself, once the log is copied. */
static void assert_file_has(struct store *store, const char *path, uint64_t bytes)
{
	store_checkpoint_wait(&store->checkpoint, 60000);
	assert_int_equal(temp_store_file_bytes(path), bytes);
}

static void test_to_a_size(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct store_vacuum done = { 0 };
	uint64_t before;

	add_all(store);
	done.request.max_bytes = UINT64_MAX / 2;
	vacuum(store, &done);
	assert_int_equal(done.n_removed, 0);
	before = done.bytes_after;
	assert_there_from(store, 1);

	done = (struct store_vacuum){ .request.max_bytes = before / 2 };
	assert_true(vacuum(store, &done) > 3); /* pieces */
	assert_int_equal(done.bytes_before, before);
	assert_true(done.bytes_after <= before / 2);
	assert_true(done.bytes_after > before / 4); /* not more than has to */
	assert_true(done.n_removed > 0 && done.n_removed < N - 1);
	assert_there_from(store, (int64_t)done.n_removed + 1);
	assert_file_has(store, stored->path, done.bytes_after);
	assert_int_equal(temp_store_status(store).n_removed, done.n_removed);

	/* less than one window has: the newest stays */
	done = (struct store_vacuum){ .request.max_bytes = 1 };
	vacuum(store, &done);
	assert_there_from(store, N);
	assert_int_equal(add_seed(store, 77), N + 1);
	assert_seed_is_back(store, N + 1, 77);
	store_free(store);
	temp_store_check(stored->path);
}

static void test_to_an_age(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct store_vacuum done = { .request.keep_us = 100 * SECOND };

	add_all(store);
	vacuum(store, &done);
	assert_int_equal(done.n_removed, N - 11); /* the newest, and ten before it */
	assert_there_from(store, N - 10);
	done = (struct store_vacuum){ .request = { .max_bytes = 1, .keep_us = 50 * SECOND } };
	vacuum(store, &done);
	assert_there_from(store, N);
	store_free(store);
	temp_store_check(stored->path);
}

static void test_marked_windows_stay(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct store_vacuum done = { .request.max_bytes = 1 };
	const struct store_mark mark = { .name = "before", .first = 5, .last = 6 };
	struct fault fault;

	add_all(store);
	assert_int_equal(store_add_mark(store, &mark, &fault), 0);
	vacuum(store, &done);
	assert_int_equal(done.n_removed, N - 3);
	for (int64_t id = 5; id <= 6; id++)
		assert_seed_is_back(store, id, (uint64_t)id);
	assert_seed_is_back(store, N, N);
	assert_null(temp_store_read(store, 4));
	assert_null(temp_store_read(store, 7));
	store_free(store);
	temp_store_check(stored->path);
}

/* Windows come meanwhile, and whoever vacuums may go at any piece. */
static void test_windows_come_and_the_caller_goes(void **state)
{
	struct temp_store *stored = *state;
	struct store *store = temp_store_open(stored->path, 0);
	struct store_vacuum done;
	struct fault fault = {};
	int64_t id = N;

	add_all(store);
	for (unsigned int n_pieces = 1; n_pieces < 12; n_pieces++) {
		done = (struct store_vacuum){ .request.max_bytes = 1 };
		for (unsigned int i = 0; i < n_pieces; i++) {
			assert_true(store_vacuum_step(store, &done, &fault) >= 0);
			id = add_seed(store, 100 + n_pieces);
		}
		assert_seed_is_back(store, id, 100 + n_pieces);
	}
	store_free(store);
	temp_store_check(stored->path);
	store = temp_store_open(stored->path, 0);
	assert_seed_is_back(store, id, 111);
	store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STORE_TEST(test_to_a_size),
		STORE_TEST(test_to_an_age),
		STORE_TEST(test_marked_windows_stay),
		STORE_TEST(test_windows_come_and_the_caller_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
