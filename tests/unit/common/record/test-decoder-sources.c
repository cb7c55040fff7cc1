/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder on samples of several sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/support/sample-fixture.h"

static void check_source(const struct decoder *d, uint64_t type, uint64_t id, uint32_t source)
{
	struct perf_event_attr attr = { .sample_type = type };
	struct shape shape = { .n_rows = 2 };
	struct fault fault;
	struct event e;
	size_t at = sizeof(struct perf_event_header);

	make_sample(&attr, &shape);
	if (!(type & PERF_SAMPLE_IDENTIFIER))
		at += 8u * (unsigned int)__builtin_popcountll(type & (PERF_SAMPLE_ID - 1) &
							      ~PERF_SAMPLE_READ &
							      ~PERF_SAMPLE_CALLCHAIN);
	memcpy(bytes.data + at, &id, sizeof(id));
	assert_int_equal(decoder_decode(d, (void *)bytes.data, &e, &fault), 0);
	assert_int_equal(e.source, source);
	check_sample(&attr, &shape, &e);
}

static void test_sources_of_other_layouts_are_told_apart_by_identifier(void **state)
{
	const uint64_t plain = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	const uint64_t rows = plain | PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK;
	struct decoder *d = NULL;
	struct fault fault;
	struct event e;
	uint64_t more[] = { 31, 32 };

	assert_int_equal(decoder_new(&d), 0);
	add_source(d, plain, 10, 0);
	add_source(d, rows, 20, 0);
	assert_int_equal(decoder_n_sources(d), 2);
	check_source(d, plain, 10, 0);
	check_source(d, rows, 20, 1);
	assert_int_equal(decoder_add_ids(d, 1, more, 2), 0);
	check_source(d, rows, 32, 1);
	check_source(d, plain, 0, 0);
	assert_int_equal(decoder_find_source(d, 31), 1);
	assert_int_equal(decoder_find_source(d, 33), -1);

	begin_record(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 33); /* nobody's */
	put_u64(&bytes, 0);
	put_u64(&bytes, 0);
	assert_int_equal(decoder_decode(d, end_record(&bytes), &e, &fault), -EBADMSG);
	decoder_free(d);
}

/* The layout is known, the event is not: another event must not get its samples. */
static void test_a_sample_of_an_event_not_described(void **state)
{
	const uint64_t plain = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	struct decoder *d = NULL;
	struct fault fault;
	struct event e;

	assert_int_equal(decoder_new(&d), 0);
	add_source(d, plain, 10, 0);
	add_source(d, plain, 20, 0);
	check_source(d, plain, 20, 1);
	check_source(d, plain, 0, 0);
	begin_record(&bytes, PERF_RECORD_SAMPLE, 0);
	put_u64(&bytes, 33); /* nobody's */
	put_u64(&bytes, 0);
	put_u64(&bytes, 0);
	assert_int_equal(decoder_decode(d, end_record(&bytes), &e, &fault), 0);
	assert_int_equal(e.kind, EVENT_UNKNOWN);
	decoder_free(d);
}

static void test_sources_are_told_apart_by_id_within_the_sample(void **state)
{
	const uint64_t plain = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
	struct decoder *d = NULL;

	assert_int_equal(decoder_new(&d), 0);
	add_source(d, plain, 10, 0);
	add_source(d, plain | PERF_SAMPLE_BRANCH_STACK, 20, 0);
	check_source(d, plain, 10, 0);
	check_source(d, plain | PERF_SAMPLE_BRANCH_STACK, 20, 1);
	decoder_free(d);
}

static void test_sources_that_nothing_tells_apart_are_refused(void **state)
{
	struct decoder *d = NULL;

	assert_int_equal(decoder_new(&d), 0);
	add_source(d, PERF_SAMPLE_IP, 10, 0);
	add_source(d, PERF_SAMPLE_IP | PERF_SAMPLE_TID, 20, -EINVAL);
	decoder_free(d);
	/* The id lies elsewhere in each. */
	assert_int_equal(decoder_new(&d), 0);
	add_source(d, PERF_SAMPLE_IP | PERF_SAMPLE_ID, 10, 0);
	add_source(d, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ID, 20, -EINVAL);
	decoder_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sources_of_other_layouts_are_told_apart_by_identifier),
		cmocka_unit_test(test_a_sample_of_an_event_not_described),
		cmocka_unit_test(test_sources_are_told_apart_by_id_within_the_sample),
		cmocka_unit_test(test_sources_that_nothing_tells_apart_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
