/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon's counts of functions, added up over places and parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/top/function-shares.h"

#include <string.h>

#include "common/util/cleanup.h"
#include "tests/support/profile-fixture.h"

/* Two functions of one object. */
static struct profile *make_profile(void)
{
	struct profile *profile = fixture_new();
	uint32_t object = fixture_object(profile, "/bin/demo", 1);

	fixture_function(profile, object, 0x1000, "first");
	fixture_function(profile, object, 0x1100, "second");
	fixture_stack(profile, PROFILE_NONE, PROFILE_NONE, object, 0x1000, 10);
	fixture_stack(profile, PROFILE_NONE, PROFILE_NONE, object, 0x1100, 5);
	fixture_finalized(profile);
	return profile;
}

static const struct share *share_of(const struct function_shares *shares, const char *symbol,
				    uint32_t object)
{
	for (size_t i = 0; i < shares->all->n_rows; i++) {
		const struct share_key *key = &shares->all->rows[i].key;

		if (key->object == object && strcmp(key->symbol ?: "", symbol) == 0)
			return &shares->all->rows[i];
	}
	fail_msg("no '%s'", symbol);
	return NULL;
}

/* Self and total: of all, of the first part, of the second one. */
static void assert_share(const struct function_shares *shares, const char *symbol, uint32_t object,
			 const uint64_t numbers[6])
{
	const struct share *share = share_of(shares, symbol, object);
	size_t row = (size_t)(share - shares->all->rows);

	assert_int_equal(share->self, numbers[0]);
	assert_int_equal(share->total, numbers[1]);
	for (size_t i = 0; i < 2; i++) {
		const struct function_shares_count *count =
			function_shares_count_of(shares, i, row);

		assert_int_equal(count->self, numbers[2 + 2 * i]);
		assert_int_equal(count->total, numbers[3 + 2 * i]);
	}
}

static void counts_add_up(void **state)
{
	struct functions_place places[] = {
		{ 0, 0, PROFILE_NONE },
		{ 0, 1, PROFILE_NONE },
		{ 0, PROFILE_NONE, PROFILE_NONE },
		{ PROFILE_NONE, PROFILE_NONE, PROFILE_NONE },
	};
	struct functions_row first[] = {
		{ 0, 4, 9, 2, 7, 7, 70, 25 },
		{ 1, 5, 5, 0, 0, 0, 0, 0 },
		{ 3, 1, 1, 0, 0, 0, 0, 0 },
	};
	struct functions_row second[] = {
		{ 0, 6, 6, 1, 3, 2, 20, 2 },
		{ 2, 14, 14, 0, 0, 0, 0, 0 },
	};
	struct functions_part parts[] = {
		{ .samples = 10, .rows = first, .n_rows = ARRAY_SIZE(first) },
		{ .samples = 20, .rows = second, .n_rows = ARRAY_SIZE(second) },
	};
	_cleanup_(profile_freep) struct profile *profile = make_profile();
	const struct functions functions = {
		.profile = profile,
		.places = places,
		.n_places = ARRAY_SIZE(places),
		.parts = parts,
		.n_parts = ARRAY_SIZE(parts),
	};
	_cleanup_(function_shares_freep) struct function_shares *shares = NULL;
	const struct call_cost *cost;

	assert_int_equal(function_shares_new(&shares, VIEW_FUNCTION, &functions), 0);
	assert_int_equal(shares->all->n_rows, 4);
	assert_share(shares, "first", 0, (const uint64_t[]){ 10, 15, 4, 9, 6, 6 });
	assert_share(shares, "second", 0, (const uint64_t[]){ 5, 5, 5, 5, 0, 0 });
	assert_share(shares, "", 0, (const uint64_t[]){ 14, 14, 0, 0, 14, 14 });
	assert_share(shares, "", PROFILE_NONE, (const uint64_t[]){ 1, 1, 1, 1, 0, 0 });
	for (size_t i = 0; i < shares->all->n_rows; i++)
		assert_int_equal(shares->all->rows[i].total_variance,
				 shares->all->rows[i].total == 15 ? 27 : 0);
	cost = &shares->costs[0];
	assert_int_equal(cost->calls, 3);
	assert_int_equal(cost->runs, 10);
	assert_int_equal(cost->timed_runs, 9);
	assert_int_equal(cost->cycles, 90);
}

static const struct share *group_of(const struct shares *all, const char *name)
{
	for (size_t i = 0; i < all->n_rows; i++)
		if (strcmp(all->rows[i].key.group ?: "", name) == 0)
			return &all->rows[i];
	fail_msg("no '%s'", name);
	return NULL;
}

/* Groups of processes are made here: the daemon counts each process. */
static void processes_are_grouped(void **state)
{
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	static const char *const groups[] = { "docker-" ID ".scope",
					      "/system.slice/docker-" ID ".scope", "web.service",
					      NULL };
	static const struct {
		enum view_by by;
		enum functions_by counted;
		const char *name;
		uint64_t samples;
	} wanted[] = {
		{ VIEW_COMM, FUNCTIONS_BY_COMM, "one", 3 },
		{ VIEW_COMM, FUNCTIONS_BY_COMM, "two", 28 },
		{ VIEW_CONTAINER, FUNCTIONS_BY_UNIT, "docker/" ID, 3 },
		{ VIEW_CONTAINER, FUNCTIONS_BY_UNIT, "", 28 },
		{ VIEW_UNIT, FUNCTIONS_BY_UNIT, "web.service", 4 },
		{ VIEW_UNIT, FUNCTIONS_BY_UNIT, "", 24 },
	};
	struct functions_place places[5];
	struct functions_row rows[5];
	struct functions_part part = { .samples = 31, .rows = rows, .n_rows = ARRAY_SIZE(rows) };
	_cleanup_(profile_freep) struct profile *profile = fixture_new();
	const struct functions functions = {
		.by = FUNCTIONS_BY_PROCESS,
		.profile = profile,
		.places = places,
		.n_places = ARRAY_SIZE(places),
		.parts = &part,
		.n_parts = 1,
	};
	enum functions_by by;

	for (uint32_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct profile_process process = {
			.pid = (int32_t)i + 1,
			.comm = i < 2 ? "one" : "two",
			.unit = i < 4 ? groups[i] : NULL,
		};

		assert_int_equal(profile_add_process(profile, &process), i);
		places[i] = (struct functions_place){ PROFILE_NONE, PROFILE_NONE, i };
		rows[i] = (struct functions_row){ .place = i, .self = 1u << i, .total = 1u << i };
	}
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		_cleanup_(shares_freep) struct shares *all = NULL;

		assert_true(function_shares_suffice(wanted[i].by, &by));
		assert_int_equal(by, wanted[i].counted);
		assert_int_equal(function_shares_view(&all, wanted[i].by, &functions), 0);
		assert_int_equal(group_of(all, wanted[i].name)->self, wanted[i].samples);
		assert_int_equal(group_of(all, wanted[i].name)->total, wanted[i].samples);
	}
}

static void nothing_has_no_rows(void **state)
{
	_cleanup_(profile_freep) struct profile *profile = make_profile();
	const struct functions functions = { .profile = profile };
	_cleanup_(function_shares_freep) struct function_shares *shares = NULL;

	assert_int_equal(function_shares_new(&shares, VIEW_FUNCTION, &functions), 0);
	assert_int_equal(shares->all->n_rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_add_up),
		cmocka_unit_test(processes_are_grouped),
		cmocka_unit_test(nothing_has_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
