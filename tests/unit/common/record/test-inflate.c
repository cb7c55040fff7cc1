/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <zstd.h>

#include "common/record/inflate.h"
#include "tests/support/random.h"

/* Records of random sizes and bytes, packed into one buffer. */
struct packed {
	char *plain, *data;
	size_t n_plain, n;
};

static void make_records(struct packed *p, size_t n_plain, uint64_t *random)
{
	p->plain = calloc(1, n_plain + UINT16_MAX);
	assert_non_null(p->plain);
	while (p->n_plain < n_plain) {
		struct perf_event_header h = { .type = PERF_RECORD_SAMPLE };
		size_t left = n_plain - p->n_plain;
		bool long_one = random_below(random, 50) == 0;

		h.size = (uint16_t)(8 + 8 * random_below(random, long_one ? 8190 : 100));
		if (h.size > left)
			h.size = (uint16_t)left;
		memcpy(p->plain + p->n_plain, &h, sizeof(h));
		for (size_t i = sizeof(h); i < h.size; i += 8)
			memset(p->plain + p->n_plain + i, (int)next_random(random), 8);
		p->n_plain += h.size;
	}
}

static void pack(struct packed *p, size_t n_plain, uint64_t *random)
{
	*p = (struct packed){ 0 };
	make_records(p, n_plain, random);
	p->data = malloc(ZSTD_compressBound(p->n_plain));
	assert_non_null(p->data);
	p->n = ZSTD_compress(p->data, ZSTD_compressBound(p->n_plain), p->plain, p->n_plain, 3);
	assert_false(ZSTD_isError(p->n));
}

static void packed_done(struct packed *p)
{
	free(p->plain);
	free(p->data);
}

static struct inflate *make_inflate(void)
{
	struct inflate *i = NULL;

	assert_int_equal(inflate_new(&i), 0);
	return i;
}

/* Feeds one piece: the records that come out are those of @plain from *@at on. */
static void check_piece(struct inflate *i, const char *p, size_t n, const char *plain, size_t *at)
{
	const struct perf_event_header *record;
	struct chunk *chunk;
	struct fault fault;
	int r;

	inflate_feed(i, p, n, 0);
	while ((r = inflate_next(i, &record, &chunk, &fault)) > 0) {
		assert_int_equal((uintptr_t)record % 8, 0);
		assert_memory_equal(record, plain + *at, record->size);
		*at += record->size;
		chunk_unref(chunk);
	}
	assert_int_equal(r, 0);
}

static void test_pieces_of_any_size(void **state)
{
	static const size_t sizes[] = { 1, 7, 100, 4096, 60000, SIZE_MAX };
	uint64_t random = 6;

	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		struct inflate *i = make_inflate();
		struct packed p;
		size_t at = 0;

		pack(&p, 1u << (k < 2 ? 18 : 21), &random);
		for (size_t done = 0; done < p.n;) {
			size_t n = MIN(sizes[k], p.n - done);

			check_piece(i, p.data + done, n, p.plain, &at);
			done += n;
		}
		assert_int_equal(at, p.n_plain);
		assert_int_equal(inflate_n_left(i), 0);
		inflate_free(i);
		packed_done(&p);
	}
}

/* perf begins no new frame, but others may: the end of one and the start of the next in one piece.
 */
static void test_frame_after_frame(void **state)
{
	char empty[64];
	size_t n_empty = ZSTD_compress(empty, sizeof(empty), "", 0, 1);
	uint64_t random = 7;
	struct inflate *i = make_inflate();
	struct packed p[3];
	char *all = malloc(1 << 20), *plain = malloc(1 << 20);
	size_t n = 0, n_plain = 0, at = 0;

	assert_true(all && plain && !ZSTD_isError(n_empty));
	for (size_t k = 0; k < 3; k++) {
		pack(&p[k], 10000, &random);
		memcpy(all + n, p[k].data, p[k].n);
		n += p[k].n;
		memcpy(all + n, empty, n_empty);
		n += n_empty;
		memcpy(plain + n_plain, p[k].plain, p[k].n_plain);
		n_plain += p[k].n_plain;
	}
	check_piece(i, all, n, plain, &at);
	assert_int_equal(at, n_plain);
	for (size_t cut = 1; cut < n; cut++) {
		at = 0;
		check_piece(i, all, cut, plain, &at);
		check_piece(i, all + cut, n - cut, plain, &at);
		assert_int_equal(at, n_plain);
	}
	for (size_t k = 0; k < 3; k++)
		packed_done(&p[k]);
	free(all);
	free(plain);
	inflate_free(i);
}

static void test_a_record_that_does_not_end_is_left(void **state)
{
	struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = 64 };
	char plain[40] = { 0 }, packed[200];
	const struct perf_event_header *record;
	struct inflate *i = make_inflate();
	struct chunk *chunk;
	struct fault fault;
	size_t n;

	memcpy(plain, &h, sizeof(h));
	n = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 3);
	inflate_feed(i, packed, n, 0);
	assert_int_equal(inflate_next(i, &record, &chunk, &fault), 0);
	assert_int_equal(inflate_n_left(i), sizeof(plain));
	inflate_free(i);
}

static void test_records_that_lie_of_their_size(void **state)
{
	static const uint16_t sizes[] = { 0, 1, 7, 9, 65535 };

	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = sizes[k] };
		const struct perf_event_header *record;
		struct inflate *i = make_inflate();
		struct chunk *chunk;
		struct fault fault;
		char packed[200];

		inflate_feed(i, packed, ZSTD_compress(packed, sizeof(packed), &h, sizeof(h), 3), 0);
		assert_int_equal(inflate_next(i, &record, &chunk, &fault), -EBADMSG);
		assert_true(fault.text[0]);
		inflate_free(i);
	}
}

/* One byte of the packed data changed: a fault or other records, but an end. */
static void test_damaged_data(void **state)
{
	uint64_t random = 8;
	struct packed p;

	pack(&p, 5000, &random);
	for (size_t at = 0; at < p.n; at++) {
		const struct perf_event_header *record;
		struct inflate *i = make_inflate();
		struct chunk *chunk;
		struct fault fault;
		int r;

		p.data[at] ^= 0x55;
		inflate_feed(i, p.data, p.n, 0);
		while ((r = inflate_next(i, &record, &chunk, &fault)) > 0)
			chunk_unref(chunk);
		assert_true(r == 0 || r == -EBADMSG);
		p.data[at] ^= 0x55;
		inflate_free(i);
	}
	packed_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_of_any_size),
		cmocka_unit_test(test_frame_after_frame),
		cmocka_unit_test(test_a_record_that_does_not_end_is_left),
		cmocka_unit_test(test_records_that_lie_of_their_size),
		cmocka_unit_test(test_damaged_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
