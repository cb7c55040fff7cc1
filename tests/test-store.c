/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/cleanup.h"
#include "daemon/store.h"
#include "tests/support/random-profile.h"

#define N_SEEDS 100

static const struct store_settings no_limit;

static struct store *open_store(const char *path, const struct store_settings *settings)
{
	struct store *store = NULL;
	struct fault fault = { 0 };

	if (store_open(&store, path, settings, &fault) < 0)
		fail_msg("%s", fault.text);
	return store;
}

static int64_t add(struct store *store, const struct profile *profile)
{
	struct window window = { .start_us = 1000, .length_us = 10, .mode = "stack" };
	struct fault fault = { 0 };
	int64_t id = 0;

	if (store_add(store, &window, profile, &id, &fault) < 0)
		fail_msg("%s", fault.text);
	return id;
}

static struct profile *read_back(struct store *store, int64_t id)
{
	struct profile *profile = NULL;
	struct fault fault = { 0 };
	int r;

	r = store_read(store, id, &profile, NULL, &fault);
	if (r < 0)
		fail_msg("%s", fault.text);
	assert_int_equal(r, 1);
	return profile;
}

static void test_what_is_read_is_what_was_written(void **state)
{
	_cleanup_(store_freep) struct store *store = open_store(":memory:", &no_limit);
	int64_t ids[N_SEEDS + 1];

	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);

		ids[seed] = add(store, p);
	}
	for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
		_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
		_cleanup_(profile_freep) struct profile *got = read_back(store, ids[seed]);

		assert_true(profile_equal(p, got));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_read_is_what_was_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
