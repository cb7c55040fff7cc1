/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/id-map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MANY 100000

/* Keys that differ in one number only, in turns. */
static struct id_key key_of(int64_t i)
{
	const struct id_key keys[] = { { i, 0, 0 }, { 0, i, 0 }, { 0, 0, i }, { i, i, i } };

	return keys[i % 4];
}

static int64_t find(const struct id_map *map, int64_t i)
{
	const struct id_value *found = id_map_find(map, key_of(i));

	return found ? found->id : 0;
}

static void put_many(struct id_map *map, int64_t n)
{
	for (int64_t i = 1; i <= n; i++)
		assert_int_equal(id_map_put(map, key_of(i), (struct id_value){ i, -i }), 0);
}

static void each_key_keeps_its_value_while_the_map_grows(void **state)
{
	struct id_map map = { 0 };

	assert_null(id_map_find(&map, key_of(1)));
	put_many(&map, MANY);
	assert_int_equal(map.n, MANY);
	assert_true(map.n * 3 <= map.n_slots * 2);
	for (int64_t i = 1; i <= MANY; i++)
		assert_int_equal(find(&map, i), i);
	assert_null(id_map_find(&map, (struct id_key){ 1, 2, 3 }));
	assert_null(id_map_find(&map, key_of(MANY + 1)));
	id_map_done(&map);
}

static void a_key_is_replaced_and_a_value_changed(void **state)
{
	struct id_map map = { 0 };

	put_many(&map, 100);
	assert_int_equal(id_map_put(&map, key_of(7), (struct id_value){ 700, 1 }), 0);
	assert_int_equal(map.n, 100);
	assert_int_equal(find(&map, 7), 700);
	id_map_find(&map, key_of(8))->id = 800;
	assert_int_equal(find(&map, 8), 800);
	assert_int_equal(find(&map, 9), 9);
	id_map_done(&map);
}

static void a_full_map_grows_for_a_new_key_alone(void **state)
{
	struct id_map map = { 0 };
	size_t n_slots;

	put_many(&map, 1);
	n_slots = map.n_slots;
	put_many(&map, (int64_t)n_slots * 2 / 3);
	assert_int_equal(id_map_put(&map, key_of(7), (struct id_value){ 700, 1 }), 0);
	assert_int_equal(map.n_slots, n_slots);
	assert_int_equal(find(&map, 7), 700);
	put_many(&map, (int64_t)n_slots * 2 / 3 + 1);
	assert_int_equal(map.n_slots, 2 * n_slots);
	id_map_done(&map);
}

/* A cleared map starts with the size that it had, or with half of it where that was little used. */
static void a_map_is_used_again_when_it_is_cleared(void **state)
{
	struct id_map map = { 0 };
	size_t n_slots;

	put_many(&map, 10000);
	n_slots = map.n_slots;
	id_map_clear(&map);
	assert_int_equal(id_map_bytes(&map), 0);
	assert_int_equal(find(&map, 1), 0);
	put_many(&map, 10);
	assert_int_equal(map.n_slots, n_slots);
	assert_int_equal(find(&map, 10), 10);
	assert_int_equal(find(&map, 11), 0);
	id_map_clear(&map);
	id_map_clear(&map); /* an empty one remembers it, too */
	put_many(&map, 10);
	assert_int_equal(map.n_slots, n_slots / 2);
	id_map_done(&map);
}

/* Who knows the seed could choose keys that are all in one place. */
static void maps_have_seeds_of_their_own(void **state)
{
	struct id_map map = { 0 }, other = { 0 };

	put_many(&map, 1);
	put_many(&other, 1);
	assert_int_not_equal(map.seed, other.seed);
	id_map_done(&map);
	id_map_done(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_keeps_its_value_while_the_map_grows),
		cmocka_unit_test(a_key_is_replaced_and_a_value_changed),
		cmocka_unit_test(a_full_map_grows_for_a_new_key_alone),
		cmocka_unit_test(a_map_is_used_again_when_it_is_cleared),
		cmocka_unit_test(maps_have_seeds_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
