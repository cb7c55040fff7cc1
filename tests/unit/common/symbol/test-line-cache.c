/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/symbol/line-cache.h"

#include <errno.h>

static void test_an_empty_cache(void **state)
{
	struct line_cache cache = {};
	const struct source_frame *frames;

	assert_int_equal(line_cache_find(&cache, 0, &frames), -ENOENT);
	line_cache_done(&cache);
}

static void test_an_offset_without_lines_is_known(void **state)
{
	struct line_cache cache = {};
	const struct source_frame *frames;

	assert_int_equal(line_cache_add(&cache, 16, NULL, 0), 0);
	assert_int_equal(line_cache_find(&cache, 16, &frames), 0);
	assert_int_equal(line_cache_find(&cache, 17, &frames), -ENOENT);
	line_cache_done(&cache);
}

/* Neighbours, multiples of the table's size, and both ends of the numbers. */
static uint64_t offset_of(uint32_t i)
{
	switch (i % 3) {
	case 0:
		return i;
	case 1:
		return (uint64_t)i << 32;
	default:
		return UINT64_MAX - i;
	}
}

static void test_many_offsets_stay_apart(void **state)
{
	enum { N = 5000 };
	struct line_cache cache = {};
	const struct source_frame *found;

	for (uint32_t i = 0; i < N; i++) {
		struct source_frame frames[] = { { .line = i }, { .line = i + 1 } };

		assert_int_equal(line_cache_add(&cache, offset_of(i), frames, 1 + i % 2), 0);
	}
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(line_cache_find(&cache, offset_of(i), &found), 1 + i % 2);
		assert_int_equal(found[i % 2].line, i + i % 2);
	}
	assert_int_equal(line_cache_find(&cache, 3 * N, &found), -ENOENT);
	line_cache_done(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_empty_cache),
		cmocka_unit_test(test_an_offset_without_lines_is_known),
		cmocka_unit_test(test_many_offsets_stay_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
