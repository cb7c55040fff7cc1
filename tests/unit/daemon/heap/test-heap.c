/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the heap keeps, and what it gives back, by what is in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util/macro.h"
#include "daemon/heap/heap.h"

#define MIB        (1024 * 1024)
#define BLOCK      ((size_t)64 << 10)
#define MAX_BLOCKS ((size_t)1024)

static char *blocks[MAX_BLOCKS], *above, *above_holes;

/* Blocks with one above them, so that what is freed is not the end of the heap; then frees them. */
static void leave_free(size_t n_bytes)
{
	size_t n = n_bytes / BLOCK;

	assert_true(n <= MAX_BLOCKS);
	for (size_t i = 0; i < n; i++) {
		blocks[i] = malloc(BLOCK);
		assert_non_null(blocks[i]);
		memset(blocks[i], 1, BLOCK);
	}
	above = malloc(BLOCK);
	assert_non_null(above);
	memset(above, 1, BLOCK);
	for (size_t i = 0; i < n; i++)
		free(blocks[i]);
}

/* Before there are holes, from which it would be taken. */
static void large_blocks_are_given_back_at_once(void **state)
{
	char *large[8];
	uint64_t before;

	for (size_t i = 0; i < ARRAY_SIZE(large); i++) {
		large[i] = malloc(MIB / 2);
		assert_non_null(large[i]);
		memset(large[i], 1, MIB / 2);
	}
	above = malloc(BLOCK);
	assert_non_null(above);
	before = heap_resident_bytes();
	for (size_t i = 0; i < ARRAY_SIZE(large); i++)
		free(large[i]);
	assert_true(heap_resident_bytes() < before - 3 * MIB); /* mappings of their own */
	free(above);
}

static void much_is_given_back(void **state)
{
	uint64_t before;

	heap_trim();
	leave_free(32 * MIB);
	before = heap_resident_bytes();
	heap_trim();
	assert_true(heap_resident_bytes() < before - 24 * MIB);
	above_holes = above; /* which stay for the next test */
}

/* The free memory of the last test is not in memory any more, and does not count. */
static void little_stays(void **state)
{
	uint64_t before;

	heap_trim();
	for (int i = 0; i < 3; i++) {
		leave_free(3 * MIB / 4);
		before = heap_resident_bytes();
		heap_trim();
		assert_true(heap_resident_bytes() > before - MIB / 2);
		free(above);
	}
	free(above_holes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_blocks_are_given_back_at_once),
		cmocka_unit_test(much_is_given_back),
		cmocka_unit_test(little_stays),
	};

	heap_set_up();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
