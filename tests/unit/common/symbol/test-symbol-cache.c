/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/symbol-cache.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

static void add(struct symbol_cache *cache, uint64_t first, uint64_t last, const char *name)
{
	const struct symbol_cache_range range = { .first = first,
						  .last = last,
						  .name = (char *)name };

	assert_int_equal(symbol_cache_add(cache, &range), 0);
}

/* 1 if the offset is in a function, 0 if in none, -ENOENT without a range. */
static int look_up(const struct symbol_cache *cache, uint64_t offset)
{
	const struct symbol_cache_range *range = symbol_cache_find(cache, offset);

	assert_int_equal(symbol_cache_find_number(cache, offset),
			 range ? range - cache->ranges : -ENOENT);
	for (size_t i = 0; i < cache->n_finalized; i++)
		assert_int_equal(symbol_cache_has(cache, (int64_t)i, offset),
				 offset >= cache->ranges[i].first &&
					 offset <= cache->ranges[i].last);
	assert_false(symbol_cache_has(cache, (int64_t)cache->n_finalized, offset));
	return !range ? -ENOENT : range->name ? 1 : 0;
}

static void test_a_place_is_in_a_function_in_none_or_not_known(void **state)
{
	struct symbol_cache cache = { 0 };

	assert_int_equal(look_up(&cache, 0), -ENOENT);
	add(&cache, 0x20, 0x2f, "b");
	add(&cache, 0x10, 0x1f, NULL);
	add(&cache, UINT64_MAX, UINT64_MAX, "z");
	symbol_cache_finalize(&cache);
	assert_int_equal(look_up(&cache, 0xf), -ENOENT);
	assert_int_equal(look_up(&cache, 0x10), 0);
	assert_int_equal(look_up(&cache, 0x1f), 0);
	assert_int_equal(look_up(&cache, 0x20), 1);
	assert_int_equal(look_up(&cache, 0x2f), 1);
	assert_int_equal(look_up(&cache, 0x30), -ENOENT);
	assert_int_equal(look_up(&cache, UINT64_MAX), 1);
	symbol_cache_done(&cache);
}

static void test_marks_are_of_what_was_found(void **state)
{
	struct symbol_cache cache = { 0 };

	add(&cache, 0x10, 0x1f, "a");
	add(&cache, 0x20, 0x2f, "b");
	symbol_cache_finalize(&cache);
	cache.ranges[symbol_cache_find_number(&cache, 0x2a)].weight = 7;
	assert_int_equal(cache.ranges[0].weight, 0);
	assert_true(symbol_cache_lacks_fingerprints(&cache, 7));
	assert_false(symbol_cache_lacks_fingerprints(&cache, 8));
	cache.ranges[1].fingerprinted = true;
	assert_false(symbol_cache_lacks_fingerprints(&cache, 1));
	symbol_cache_unmark(&cache);
	assert_int_equal(cache.ranges[1].weight, 0);
	symbol_cache_done(&cache);
}

static void test_long_names_are_limited_in_sum(void **state)
{
	struct symbol_cache cache = { .name_limit = 1000 };
	char name[401] = "";

	memset(name, 'n', sizeof(name) - 1);
	memcpy(name + SYMBOL_CACHE_SHORT - 1, "\xc3\xa4", 2); /* what would be cut in two */
	for (uint64_t i = 0; i < 4; i++)
		add(&cache, i, i, name);
	add(&cache, 4, 4, "short");
	symbol_cache_finalize(&cache);
	assert_int_equal(strlen(cache.ranges[0].name), sizeof(name) - 1);
	assert_int_equal(strlen(cache.ranges[1].name), sizeof(name) - 1);
	assert_int_equal(strlen(cache.ranges[2].name), SYMBOL_CACHE_SHORT - 1);
	assert_int_equal(strlen(cache.ranges[3].name), SYMBOL_CACHE_SHORT - 1);
	assert_string_equal(cache.ranges[4].name, "short");
	symbol_cache_done(&cache);
}

static void test_what_lies_within_another_goes(void **state)
{
	struct symbol_cache cache = { 0 };
	size_t bytes;

	add(&cache, 0x10, 0x1f, "a");
	symbol_cache_finalize(&cache);
	bytes = symbol_cache_bytes(&cache);
	add(&cache, 0x18, 0x1f, "a");
	add(&cache, 0x10, 0x1f, "a");
	cache.ranges[1].weight = 2;
	symbol_cache_finalize(&cache);
	assert_int_equal(cache.n, 1);
	assert_int_equal(cache.ranges[0].weight, 2);
	assert_int_equal(symbol_cache_bytes(&cache), bytes);
	symbol_cache_done(&cache);
}

/* Stretches cut at random out of functions of cache borders, in random order. */
static void test_random_stretches_against_their_functions(void **state)
{
	char names[32][8];

	srand(1);
	for (int i = 0; i < 32; i++)
		snprintf(names[i], sizeof(names[i]), "f%d", i);
	for (int round = 0; round < 100; round++) {
		struct symbol_cache cache = { 0 };
		bool covered[320] = { false };

		for (int i = 0; i < 60; i++) {
			int function = rand() % 32;
			uint64_t first = (uint64_t)(function * 10 + rand() % 10);
			uint64_t last = (uint64_t)(function * 10 + 9);

			add(&cache, first, last, function % 3 ? names[function] : NULL);
			for (uint64_t at = first; at <= last; at++)
				covered[at] = true;
			if (i % 20 == 19)
				symbol_cache_finalize(&cache);
		}
		for (uint64_t at = 0; at < 320; at++)
			assert_int_equal(look_up(&cache, at), !covered[at] ? -ENOENT :
							      at / 10 % 3  ? 1 :
									     0);
		symbol_cache_done(&cache);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_place_is_in_a_function_in_none_or_not_known),
		cmocka_unit_test(test_marks_are_of_what_was_found),
		cmocka_unit_test(test_long_names_are_limited_in_sum),
		cmocka_unit_test(test_what_lies_within_another_goes),
		cmocka_unit_test(test_random_stretches_against_their_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
