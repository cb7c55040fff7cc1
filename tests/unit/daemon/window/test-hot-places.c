/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/macro.h"
#include "daemon/window/hot-places.h"
#include "tests/support/profile-fixture.h"

static struct hot_places *rank(struct profile *p, double share)
{
	struct hot_places *places;

	fixture_finalized(p);
	assert_int_equal(hot_places_rank(&places, p, share), 0);
	profile_free(p);
	return places;
}

static void add(struct profile *p, uint32_t process, uint32_t object, uint64_t offset, uint64_t n)
{
	fixture_stack(p, process, PROFILE_NONE, object, offset, n);
	p->processes[process].samples += n;
}

static void assert_place(const struct hot_place *place, int32_t pid, uint64_t start, uint64_t end)
{
	assert_int_equal(place->pid, pid);
	assert_int_equal(place->start, start);
	assert_int_equal(place->end, end);
}

static void test_functions_by_their_share_of_the_process(void **state)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/usr/bin/x", 1), process, other;
	struct hot_places *places;

	process = fixture_process(p, "x", "/usr/bin/x");
	other = fixture_process(p, "y", "/usr/bin/x");
	fixture_function(p, object, 0x1000, "hot");
	fixture_function(p, object, 0x2000, "cold");
	add(p, process, object, 0x1008, 50);
	add(p, process, object, 0x1010, 41);
	add(p, process, object, 0x2000, 9);
	add(p, other, object, 0x2000, 3);
	places = rank(p, 0.1);
	assert_int_equal(places->n, 4);
	assert_place(&places->rows[0], 1, 0, 0);
	assert_place(&places->rows[1], 1, 0x1000, 0x1100);
	assert_int_equal(places->rows[1].object, places->rows[3].object);
	assert_true(places->rows[1].object != 0);
	assert_place(&places->rows[2], 2, 0, 0);
	assert_place(&places->rows[3], 2, 0x2000, 0x2100);
	free(places);
}

static void test_code_without_functions_is_one(void **state)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/usr/bin/x", 1);
	uint32_t process = fixture_process(p, "x", "/usr/bin/x");
	struct hot_places *places;

	add(p, process, object, 0x1500, 1);
	add(p, process, object, 0x1008, 1);
	places = rank(p, 1);
	assert_int_equal(places->n, 2);
	assert_place(&places->rows[1], 1, 0x1008, 0x1501);
	free(places);
}

/* By address, and with the samples of all processes. */
static void test_the_kernel_is_ranked_by_all_samples(void **state)
{
	const struct profile_object kernel = { .kind = OBJECT_KERNEL,
					       .path = "[kernel]",
					       .base = 0xffffffff81000000 };
	struct profile *p = fixture_new();
	uint32_t object = fixture_index(profile_add_object(p, &kernel));
	uint32_t process = fixture_process(p, "x", "/usr/bin/x");
	uint32_t other = fixture_process(p, "y", "/usr/bin/x");
	struct hot_places *places;

	fixture_function(p, object, 0x1000, "hot");
	fixture_function(p, object, 0x2000, "cold");
	add(p, process, object, 0x1000, 6);
	add(p, other, object, 0x1000, 6);
	add(p, process, object, 0x2000, 9);
	add(p, other, PROFILE_NONE, 1, 79);
	places = rank(p, 0.1);
	assert_int_equal(places->n, 2);
	assert_place(&places->rows[0], 0, 0, 0);
	assert_place(&places->rows[1], 0, 0xffffffff81001000, 0xffffffff81001100);
	assert_int_equal(places->rows[1].object, 0);
	free(places);
}

/* Those with the most samples are ranked, and each of them as a whole. */
static void test_there_is_a_limit(void **state)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/usr/bin/x", 1);
	struct hot_places *places;

	fixture_function(p, object, 0x1000, "f");
	for (uint32_t i = 0; i < HOT_PLACES_MAX; i++)
		add(p, fixture_process(p, "x", "/usr/bin/x"), object, 0x1000, 1 + i);
	places = rank(p, 0.1);
	assert_int_equal(places->n, HOT_PLACES_MAX - 1);
	assert_int_equal(places->rows[0].pid, HOT_PLACES_MAX);
	free(places);
}

/* A user's short-lived processes, which are counted as one, and not ranked. */
struct short_lived {
	uint64_t n_hot, n_cold, n_kernel; /* samples; n_cold of ten functions */
};

static void add_short_lived(struct profile *p, uint32_t uid, const struct short_lived *samples)
{
	uint32_t file = fixture_object(p, "/usr/bin/x", 1);
	uint32_t process = fixture_process(p, "x", "/usr/bin/x"), kernel;

	kernel = fixture_index(profile_add_object(
		p, &(struct profile_object){ .kind = OBJECT_KERNEL, .path = "[kernel]" }));
	p->processes[process].pid = -1;
	p->processes[process].uid = uid;
	add(p, process, file, 0x1000, samples->n_hot);
	for (uint64_t i = 0; i < samples->n_cold; i++)
		add(p, process, file, 0x2000 + 0x100 * (i % 10), 1);
	add(p, process, kernel, 0x5000, samples->n_kernel);
}

/* The next ones like them are as hot as most of what those did; the kernel is ranked by itself. */
static void test_users_are_cold_as_their_short_lived_processes(void **state)
{
	static const struct short_lived users[] = {
		{ 500, 499, 100 }, { 500, 501, 0 }, { 0, 199, 0 }, { 0, 0, 1000 }, { 0, 150, 0 },
	};
	struct profile *p = fixture_new();
	uint32_t file = fixture_object(p, "/usr/bin/x", 1), alive;
	struct hot_places *places;

	fixture_function(p, file, 0x1000, "hot");
	for (uint64_t i = 0; i < 10; i++)
		fixture_function(p, file, 0x2000 + 0x100 * i, "cold");
	for (uint32_t i = 0; i < ARRAY_SIZE(users); i++)
		add_short_lived(p, i, &users[i]);
	add_short_lived(p, 4, &(struct short_lived){ .n_cold = 50 }); /* of another name */
	alive = fixture_process(p, "y", "/usr/bin/x");
	for (uint64_t i = 0; i < 10; i++)
		add(p, alive, file, 0x2000 + 0x100 * i, 1000); /* says nothing of others */
	places = rank(p, 0.2);
	assert_int_equal(places->n_cold_users, 2);
	assert_int_equal(places->cold_users[0], 1);
	assert_int_equal(places->cold_users[1], 4);
	free(places);
}

static void test_few_users_are_cold(void **state)
{
	struct profile *p = fixture_new();
	uint32_t file = fixture_object(p, "/usr/bin/x", 1);
	struct hot_places *places;

	for (uint64_t i = 0; i < 10; i++)
		fixture_function(p, file, 0x2000 + 0x100 * i, "cold");
	for (uint32_t i = 0; i <= HOT_PLACES_USERS; i++)
		add_short_lived(p, i, &(struct short_lived){ .n_cold = 200 + i });
	places = rank(p, 0.2);
	assert_int_equal(places->n_cold_users, HOT_PLACES_USERS);
	assert_int_equal(places->cold_users[0], HOT_PLACES_USERS); /* the most samples */
	free(places);
}

/* A profile that is named knows a trusted file by its build-id, a mapping by device and inode. */
static void test_objects_are_found_among_the_mapped_ones(void **state)
{
	const struct profile_object mapped = {
		.kind = OBJECT_FILE, .path = "/usr/bin/x", .major = 8, .minor = 1, .inode = 42
	};
	const struct profile_object named = {
		.kind = OBJECT_FILE, .path = "/usr/bin/x", .build_id = { 1 }, .n_build_id = 1
	};
	const struct profile_object other = { .kind = OBJECT_FILE, .path = "/usr/bin/y" };
	const struct profile_object memory = { .kind = OBJECT_MEMORY, .path = "/usr/bin/x" };

	assert_true(hot_places_object(&mapped) == hot_places_object(&named));
	assert_true(hot_places_object(&mapped) != hot_places_object(&other));
	assert_true(hot_places_object(&mapped) != hot_places_object(&memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_by_their_share_of_the_process),
		cmocka_unit_test(test_code_without_functions_is_one),
		cmocka_unit_test(test_the_kernel_is_ranked_by_all_samples),
		cmocka_unit_test(test_there_is_a_limit),
		cmocka_unit_test(test_users_are_cold_as_their_short_lived_processes),
		cmocka_unit_test(test_few_users_are_cold),
		cmocka_unit_test(test_objects_are_found_among_the_mapped_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
