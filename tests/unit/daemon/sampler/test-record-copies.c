/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "daemon/sampler/record-copies.h"

#define MOST   0xfff8 /* bytes of a record */
#define CHUNKS (3 * RECORD_COPIES_SPARES)

/* A record of any size, filled with @fill; valid until the next call. */
static const struct perf_event_header *make_record(uint16_t size, uint8_t fill)
{
	static union {
		struct perf_event_header header;
		uint8_t bytes[MOST];
	} record;

	memset(&record, fill, size);
	record.header.size = size;
	return &record.header;
}

static void assert_is_copy(const struct waiting *w, uint16_t size, uint8_t fill)
{
	assert_memory_equal(w->record, make_record(size, fill), size);
}

static void copies_stay_until_they_are_let_go(void **state)
{
	struct record_copies copies = {};
	struct waiting waiting[CHUNKS];
	unsigned int seed = 1;
	uint16_t sizes[CHUNKS];

	for (int round = 0; round < 100; round++) {
		for (size_t i = 0; i < CHUNKS; i++) {
			sizes[i] = (uint16_t)(8 + rand_r(&seed) % (MOST - 8));
			assert_int_equal(record_copies_add(&copies,
							   make_record(sizes[i], (uint8_t)i),
							   &waiting[i]),
					 0);
			assert_int_equal((uintptr_t)waiting[i].record % 8, 0);
		}
		for (size_t i = 0; i < CHUNKS; i++) {
			assert_is_copy(&waiting[i], sizes[i], (uint8_t)i);
			record_copies_release(&copies, waiting[i].chunk);
		}
	}
	record_copies_done(&copies);
	assert_null(copies.chunk);
}

static void the_same_memory_is_used_again(void **state)
{
	const size_t a_chunk = CHUNK_BYTES / MOST;
	struct record_copies copies = {};
	struct waiting w;
	struct chunk *first = NULL, *second = NULL;

	for (size_t i = 0; i < 100 * a_chunk; i++) {
		assert_int_equal(record_copies_add(&copies, make_record(MOST, 1), &w), 0);
		first = first ? first : w.chunk;
		if (w.chunk != first)
			second = second ? second : w.chunk;
		assert_true(w.chunk == first || w.chunk == second);
		record_copies_release(&copies, w.chunk);
	}
	record_copies_done(&copies);
}

static void little_of_it_is_kept(void **state)
{
	const size_t a_chunk = CHUNK_BYTES / MOST;
	struct waiting waiting[CHUNKS * (CHUNK_BYTES / MOST)];
	struct record_copies copies = {};

	for (size_t i = 0; i < CHUNKS * a_chunk; i++)
		assert_int_equal(record_copies_add(&copies, make_record(MOST, 1), &waiting[i]), 0);
	assert_int_equal(copies.n_spares, 0);
	for (size_t i = 0; i < CHUNKS * a_chunk; i++)
		record_copies_release(&copies, waiting[i].chunk);
	assert_int_equal(copies.n_spares, RECORD_COPIES_SPARES);
	record_copies_done(&copies);
	assert_int_equal(copies.n_spares, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_stay_until_they_are_let_go),
		cmocka_unit_test(the_same_memory_is_used_again),
		cmocka_unit_test(little_of_it_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
