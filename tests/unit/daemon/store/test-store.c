/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the store gives back is what it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/store/store.h"
#include "tests/support/random-profile.h"
#include "tests/support/temp-store.h"

#define N_SEEDS 150

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

static struct profile *new_profile(void)
{
	struct profile *p = NULL;

	assert_int_equal(profile_new(&p), 0);
	return p;
}

static void assert_comes_back(struct store *store, struct profile *p)
{
	_cleanup_(profile_freep) struct profile *back = NULL;
	struct window window = temp_store_window(1);

	assert_int_equal(profile_finalize(p), 0);
	back = temp_store_read(store, temp_store_add(store, &window, p));
	assert_true(profile_equal(p, back));
}

static void test_random_profiles_come_back(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	int64_t ids[N_SEEDS];

	for (uint64_t i = 0; i < N_SEEDS; i++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(i, 0);
		struct window window = temp_store_window(i);

		ids[i] = temp_store_add(store, &window, p);
		assert_true(i == 0 || ids[i] > ids[i - 1]);
	}
	for (uint64_t i = 0; i < N_SEEDS; i++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(i, i + 1);
		_cleanup_(profile_freep) struct profile *back = temp_store_read(store, ids[i]);

		assert_true(profile_equal(p, back));
	}
}

static void test_they_come_back_after_opening_again(void **state)
{
	struct temp_store *stored = *state;

	for (uint64_t i = 0; i < 20; i++) {
		_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
		_cleanup_(profile_freep) struct profile *p = random_profile(i % 7, 0);
		struct window window = temp_store_window(i);

		assert_int_equal(temp_store_status(store).n_windows, i);
		assert_int_equal(temp_store_add(store, &window, p), i + 1);
		for (uint64_t k = 0; k <= i; k++) {
			_cleanup_(profile_freep) struct profile *a = random_profile(k % 7, 0);
			_cleanup_(profile_freep) struct profile *b =
				temp_store_read(store, (int64_t)k + 1);

			assert_true(profile_equal(a, b));
		}
	}
	temp_store_check(stored->path);
}

#define N_MANY 20

/* As if each were read for itself and all were added up; some are missing. */
static void test_many_are_read_as_their_sum(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	struct profile *profiles[N_MANY], *sum, *read;
	struct window windows[N_MANY];
	bool found[N_MANY];
	const struct store_batch batch = {
		.windows = windows, .found = found, .n = N_MANY, .max_rows = SIZE_MAX
	};
	struct fault fault;
	size_t n = 0, n_read;

	for (uint64_t i = 0; i < N_MANY; i++) {
		struct window window = temp_store_window(i);

		windows[i] = (struct window){ .id = (int64_t)i + 1000 };
		if (i % 5 == 3)
			continue;
		profiles[n] = random_profile(i % 6, 0);
		windows[i].id = temp_store_add(store, &window, profiles[n++]);
	}
	assert_int_equal(profile_merge(&sum, (const struct profile *const *)profiles, n), 0);
	assert_int_equal(store_read_many(store, &batch, &n_read, &read, &fault), 0);
	assert_int_equal(n_read, N_MANY);
	assert_true(profile_equal(read, sum));
	for (uint64_t i = 0; i < N_MANY; i++) {
		assert_int_equal(found[i], i % 5 != 3);
		if (found[i])
			assert_int_equal(windows[i].start_us, temp_store_window(i).start_us);
	}
	profile_free(read);
	profile_free(sum);
	while (n > 0)
		profile_free(profiles[--n]);
}

/* The rows of a profile with these tables alone, and what they count. */
static void check_rows(const struct profile *p, const struct profile *all, unsigned int tables)
{
	uint64_t samples = 0, taken = 0;

	assert_int_equal(p->n_stacks, tables & PROFILE_TABLE(PROFILE_STACKS) ? all->n_stacks : 0);
	assert_int_equal(p->n_streams,
			 tables & PROFILE_TABLE(PROFILE_STREAMS) ? all->n_streams : 0);
	assert_int_equal(p->n_branches,
			 tables & PROFILE_TABLE(PROFILE_BRANCHES) ? all->n_branches : 0);
	assert_int_equal(p->n_blocks, tables & PROFILE_TABLE(PROFILE_BLOCKS) ? all->n_blocks : 0);
	for (size_t i = 0; i < p->n_stacks; i++)
		samples += p->stacks[i].samples - all->stacks[i].samples;
	for (size_t i = 0; i < p->n_branches; i++)
		taken += p->branches[i].taken - all->branches[i].taken;
	assert_int_equal(samples, 0);
	assert_int_equal(taken, 0);
	assert_memory_equal(&p->counters, &all->counters, sizeof(p->counters));
}

/* Some windows at a time, of which some tables are wanted. */
static void test_a_sum_has_the_wanted_tables(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	struct profile *profiles[N_MANY], *all;
	struct window windows[N_MANY];
	bool found[N_MANY];
	struct fault fault;

	for (uint64_t i = 0; i < N_MANY; i++) {
		struct window window = temp_store_window(i);

		profiles[i] = random_profile(i % 6, 0);
		windows[i].id = temp_store_add(store, &window, profiles[i]);
	}
	assert_int_equal(profile_merge(&all, (const struct profile *const *)profiles, N_MANY), 0);
	for (unsigned int tables = 1; tables <= PROFILE_ALL_TABLES; tables++) {
		_cleanup_(window_sum_freep) struct window_sum *sum = NULL;
		_cleanup_(profile_freep) struct profile *read = NULL;

		assert_int_equal(window_sum_new(&sum, tables), 0);
		for (size_t at = 0, n; at < N_MANY; at += n) {
			const struct store_batch batch = {
				.windows = windows + at,
				.found = found,
				.n = MIN((size_t)7, N_MANY - at),
				.max_rows = SIZE_MAX,
			};

			assert_int_equal(store_read_sum(store, &batch, sum, &n, &fault), 0);
		}
		assert_true(window_sum_bytes(sum) > 0);
		assert_int_equal(window_sum_take(sum, &read), 0);
		check_rows(read, all, tables);
		if (tables == PROFILE_ALL_TABLES)
			assert_true(profile_equal(read, all));
	}
	profile_free(all);
	for (size_t i = 0; i < N_MANY; i++)
		profile_free(profiles[i]);
}

static void test_no_more_are_read_than_rows_allow(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *p = random_profile(1, 0);
	struct window windows[3], window = temp_store_window(1);
	bool found[3];
	struct fault fault;

	for (size_t i = 0; i < 3; i++)
		windows[i].id = temp_store_add(store, &window, p);
	for (size_t max_rows = 0; max_rows < 2; max_rows++) {
		_cleanup_(profile_freep) struct profile *read = NULL;
		const struct store_batch batch = {
			.windows = windows, .found = found, .n = 3, .max_rows = max_rows
		};
		size_t n = 0;

		assert_int_equal(store_read_many(store, &batch, &n, &read, &fault), 0);
		assert_int_equal(n, 1);
		assert_true(profile_equal(read, p));
	}
}

static void test_an_empty_profile_comes_back(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *p = new_profile();

	assert_comes_back(store, p);
}

static void test_the_largest_numbers_come_back(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *p = new_profile();
	struct profile_object object = { .kind = N_OBJECT_KINDS - 1,
					 .n_build_id = PROFILE_BUILD_ID_MAX,
					 .major = UINT32_MAX,
					 .minor = UINT32_MAX,
					 .inode = UINT64_MAX,
					 .path = "",
					 .base = UINT64_MAX };
	struct profile_process process = { .pid = INT32_MAX,
					   .start_ns = UINT64_MAX,
					   .comm = "",
					   .uid = UINT32_MAX - 1,
					   .samples = UINT64_MAX };
	struct profile_function function = {
		.start = UINT64_MAX - 9, .size = UINT64_MAX, .name = "f", .fingerprint = UINT64_MAX
	};
	struct location place = { 0, UINT64_MAX }, nowhere = { PROFILE_NONE, UINT64_MAX };
	struct profile_stack stack = { .parent = PROFILE_NONE,
				       .frame = place,
				       .samples = UINT64_MAX,
				       .stitched = UINT64_MAX,
				       .weight = UINT64_MAX };
	struct profile_branch branch = { .from = place,
					 .to = nowhere,
					 .taken = UINT64_MAX,
					 .kind = BRANCH_FAULT,
					 .mispredicted = UINT64_MAX,
					 .predicted = UINT64_MAX,
					 .aborted = UINT64_MAX,
					 .cycles = UINT64_MAX,
					 .cycles_rows = UINT64_MAX };
	struct profile_block block = { .process = PROFILE_NONE,
				       .start = (uint64_t)INT64_MAX + 1,
				       .end = UINT64_MAX,
				       .runs = UINT64_MAX,
				       .cycles = UINT64_MAX,
				       .cycles_rows = UINT64_MAX };

	memset(object.build_id, 0xff, sizeof(object.build_id));
	memset(&p->counters, 0xff, sizeof(p->counters));
	p->info.n_cpus = p->info.depth = UINT32_MAX;
	p->info.start_ns = p->info.end_ns = UINT64_MAX;
	assert_int_equal(profile_add_object(p, &object), 0);
	assert_int_equal(profile_add_process(p, &process), 0);
	assert_int_equal(profile_add_function(p, &function), 0);
	assert_int_equal(profile_add_stack(p, &stack), 0);
	assert_int_equal(profile_add_branch(p, &branch), 0);
	assert_int_equal(profile_add_block(p, &block), 0);
	assert_comes_back(store, p);
	assert_int_equal(p->n_functions, 1);
}

/* Rows that look like those the schema keeps for none. */
static void test_nothing_is_another_thing_than_none(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *p = new_profile();
	struct profile_object object = { .path = "" };
	struct profile_process process = { .pid = -1, .comm = "", .uid = UINT32_MAX };
	uint32_t none = PROFILE_NONE;

	p->info.mode = "";
	assert_int_equal(profile_add_object(p, &object), 0);
	assert_int_equal(profile_add_process(p, &process), 0);
	process.executable = process.unit = "";
	assert_int_equal(profile_add_process(p, &process), 1);
	for (uint32_t i = 0; i < 4; i++) {
		struct profile_stack stack = { .parent = none,
					       .process = i < 2 ? none : i - 2,
					       .frame = { i % 2 ? none : 0, 0 } };

		assert_int_equal(profile_add_stack(p, &stack), 2 * i);
		stack.parent = 2 * i;
		assert_int_equal(profile_add_stack(p, &stack), 2 * i + 1);
	}
	assert_comes_back(store, p);
	assert_int_equal(p->n_stacks, 8);
	assert_int_equal(p->n_processes, 2);
	assert_int_equal(p->n_objects, 1);
}

static void test_text_of_any_bytes_comes_back(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *p = new_profile();
	char all[256], *huge = malloc(1 << 20);
	struct profile_object object = { .path = all };
	struct profile_function function = { .size = 1, .name = huge };
	struct profile_process process = { .comm = all, .executable = "\xff", .unit = "\xc3" };
	struct profile_stack stack = { .parent = PROFILE_NONE };
	int r = 0;

	assert_non_null(huge);
	for (int i = 0; i < 256; i++)
		all[i] = (char)(i + 1);
	memset(huge, 0x80, (1 << 20) - 1);
	huge[(1 << 20) - 1] = '\0';
	p->info.mode = profile_string(p, all, &r);
	p->info.event = "";
	p->info.hostname = "\xfe\xff";
	p->info.os_release = "o'; DROP TABLE window; --";
	p->info.cpu = "%s%n";
	assert_int_equal(profile_add_object(p, &object), 0);
	assert_int_equal(profile_add_process(p, &process), 0);
	assert_int_equal(profile_add_function(p, &function), 0);
	assert_int_equal(profile_add_stack(p, &stack), 0);
	assert_comes_back(store, p);
	free(huge);
}

static void test_a_deep_stack_comes_back(void **state)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);
	_cleanup_(profile_freep) struct profile *p = new_profile();

	for (uint32_t i = 0; i < 30000; i++) {
		struct profile_stack stack = { .parent = i - 1,
					       .process = PROFILE_NONE,
					       .frame = { PROFILE_NONE, i % 3 },
					       .samples = i % 1000 == 0 };

		assert_int_equal(profile_add_stack(p, &stack), i);
	}
	assert_comes_back(store, p);
	assert_int_equal(p->n_stacks, 30000);
}

/* The same place in a function that has another name, or lies within another. */
static void test_functions_are_those_of_the_window(void **state)
{
	static const struct profile_function functions[] = {
		{ .start = 0, .size = 100, .name = "outer" },
		{ .start = 10, .size = 20, .name = "inner" },
		{ .start = 10, .size = 20, .name = "renamed" },
		{ .start = 10, .size = 5, .name = "inner" },
		{ .start = 10, .size = 20, .name = "inner", .fingerprint = 7 },
	};
	_cleanup_(store_freep) struct store *store = temp_store_open(":memory:", 0);

	for (uint32_t i = 0; i < 1 << ARRAY_SIZE(functions); i++) {
		_cleanup_(profile_freep) struct profile *p = new_profile();
		struct profile_object object = { .path = "/bin/a" };
		struct profile_stack stack = { .parent = PROFILE_NONE,
					       .process = PROFILE_NONE,
					       .frame = { 0, 15 } };

		assert_int_equal(profile_add_object(p, &object), 0);
		assert_int_equal(profile_add_stack(p, &stack), 0);
		for (uint32_t k = 0; k < ARRAY_SIZE(functions); k++) {
			if (i >> k & 1)
				assert_true(profile_add_function(p, &functions[k]) >= 0);
		}
		assert_comes_back(store, p);
	}
}

#define N_PLACES 70000u /* more than the store remembers of a generation */

/* What is remembered ages with each window: half of the places are those of the window before, and
 * at the end the first ones come again. */
static void test_more_places_than_are_remembered_come_back(void **state)
{
	struct temp_store *stored = *state;
	_cleanup_(store_freep) struct store *store = temp_store_open(stored->path, 0);
	sqlite3 *db;

	for (uint32_t i = 0; i < 5; i++) {
		_cleanup_(profile_freep) struct profile *p = new_profile();

		for (uint32_t k = 0; k < N_PLACES; k++) {
			const struct profile_stack stack = {
				.parent = PROFILE_NONE,
				.process = PROFILE_NONE,
				.frame = { PROFILE_NONE, 1 + i % 4 * (N_PLACES / 2) + k },
				.samples = 1 + i,
			};

			assert_true(profile_add_stack(p, &stack) >= 0);
		}
		assert_comes_back(store, p);
	}
	store = store_free(store);
	db = temp_store_connect(stored->path);
	assert_int_equal(temp_store_number(db, "SELECT count(*) FROM place WHERE id > 0"),
			 N_PLACES / 2 * 5);
	sqlite3_close(db);
	temp_store_check(stored->path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_profiles_come_back),
		cmocka_unit_test_setup_teardown(test_they_come_back_after_opening_again, set_up,
						tear_down),
		cmocka_unit_test(test_many_are_read_as_their_sum),
		cmocka_unit_test(test_a_sum_has_the_wanted_tables),
		cmocka_unit_test(test_no_more_are_read_than_rows_allow),
		cmocka_unit_test(test_an_empty_profile_comes_back),
		cmocka_unit_test(test_the_largest_numbers_come_back),
		cmocka_unit_test(test_nothing_is_another_thing_than_none),
		cmocka_unit_test(test_text_of_any_bytes_comes_back),
		cmocka_unit_test(test_a_deep_stack_comes_back),
		cmocka_unit_test(test_functions_are_those_of_the_window),
		cmocka_unit_test_setup_teardown(test_more_places_than_are_remembered_come_back,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
