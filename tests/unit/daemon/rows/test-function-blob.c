/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of rows is that of their ids in the database, and what has one id there is one row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/rows/function-blob.h"
#include "daemon/rows/packed.h"

#define NONE PROFILE_NONE
#define ROW(p, f, o, n)                                                              \
	{                                                                            \
		.process = (p), .function = (f), .at = { .object = (o) }, .tally = { \
			.self = (n),                                                 \
			.total = 10 * (n),                                           \
		}                                                                    \
	}

static const struct interned processes[] = { { .id = 8 }, { .id = 2 } };
static const struct interned objects[] = { { .id = 7 }, { .id = 4 } };
/* two of one id, as where two objects of the profile are one in the database */
static const struct interned names[] = { { .id = 900 }, { .id = 3 }, { .id = 3 } };

static struct function_count rows[] = {
	ROW(0, 0, 0, 1),    ROW(0, 1, 0, 2),       ROW(0, 2, 1, 3),       ROW(0, NONE, 0, 4),
	ROW(0, NONE, 1, 5), ROW(0, NONE, NONE, 6), ROW(1, NONE, NONE, 7), ROW(1, 2, 1, 8),
};

static struct process_tally tallies[] = {
	{ .process = 0, .samples = 21, .first = 0, .n = 6 },
	{ .process = 1, .samples = 15, .first = 6, .n = 2 },
	{ .process = NONE, .first = 8 },
};

static void check(struct function_bytes *bytes, const uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(function_bytes_take(bytes), numbers[i]);
	assert_false(bytes->damaged);
}

#define CHECK(bytes, ...)                               \
	check(bytes, (const uint64_t[]){ __VA_ARGS__ }, \
	      sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static void rows_are_in_the_order_of_their_ids(void **state)
{
	const struct function_counts counts = {
		.rows = rows,
		.processes = tallies,
		.n_rows = ARRAY_SIZE(rows),
		.n_processes = ARRAY_SIZE(tallies),
		.n_functions = ARRAY_SIZE(names),
		.n_objects = ARRAY_SIZE(objects),
	};
	_cleanup_(function_blob_done) struct function_blob blob;
	_cleanup_free_ uint8_t *unpacked = NULL;
	struct function_bytes first, more = {};

	assert_int_equal(function_blob_write(&blob, &counts, processes, objects, names), 0);
	assert_false(blob.has_variances);
	first = (struct function_bytes){ .data = blob.counts, .n = blob.n_counts };
	/* bytes; twice the step from the id before; without a function: the object's; self, total
	 */
	CHECK(&first, 21, 0, 0, 13, 130, 0, 4, 5, 50, 0, 7, 4, 40, 6, 13, 130);
	CHECK(&first, 2 * 897, 1, 10);
	/* processes: the step, samples */
	CHECK(&first, 0, 0, 2, 15, 6, 21);
	assert_int_equal(first.n, 0);

	assert_int_equal(packed_read(blob.processes, blob.n_processes, &unpacked, &more.n), 0);
	more.data = unpacked;
	CHECK(&more, 0, 0, 0, 0, 0, 0);                        /* of no process */
	CHECK(&more, 0, 0, 0, 0, 0, 7, 0, 0, 7, 70, 6, 8, 80); /* of the one with id 2 */
	CHECK(&more, 0, 0, 0, 0, 0, 19, 0, 0, 6, 60, 0, 4, 5, 50, 0, 7, 4, 40, 6, 5, 50);
	CHECK(&more, 2 * 897, 1, 10);
	assert_int_equal(more.n, 0);
}

static void nothing_was_counted(void **state)
{
	const struct function_counts counts = {};
	_cleanup_(function_blob_done) struct function_blob blob;

	assert_int_equal(function_blob_write(&blob, &counts, processes, objects, names), 0);
	assert_int_equal(blob.n_counts, 1);
	assert_int_equal(blob.counts[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_in_the_order_of_their_ids),
		cmocka_unit_test(nothing_was_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
