/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder on samples of one source; of several: test-decoder-sources.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/support/random.h"
#include "tests/support/sample-fixture.h"

static void check_decodes(const struct perf_event_attr *attr, const struct shape *shape)
{
	struct decoder *d = make_decoder(attr);
	struct fault fault;
	struct event e;
	uint64_t time;

	assert_int_equal(decoder_decode(d, make_sample(attr, shape), &e, &fault), 0);
	check_sample(attr, shape, &e);
	assert_int_equal(decoder_time(d, (void *)bytes.data, &time),
			 !!(attr->sample_type & PERF_SAMPLE_TIME));
	decoder_free(d);
}

static const struct shape some = {
	.n_callchain = 3,
	.n_rows = 4,
	.raw_bytes = 12,
	.n_values = 2,
	.stack_bytes = 24,
	.aux_bytes = 16,
	.stack_unread = 8,
	.regs_user = true,
	.regs_intr = true,
};

static void test_all_fields_together(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = ALL_FIELDS,
		.read_format = 0x1f,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | BRANCH_COUNTERS,
		.sample_regs_user = 0xff0ff,
		.sample_regs_intr = 0x7,
	};

	check_decodes(&attr, &some);
}

static void test_each_field_alone_and_each_missing(void **state)
{
	for (unsigned int bit = 0; bit < 25; bit++) {
		struct perf_event_attr attr = { .sample_type = 1ull << bit };

		check_decodes(&attr, &some);
		attr.sample_type |= PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_CALLCHAIN;
		check_decodes(&attr, &some);
		attr.sample_type = ALL_FIELDS & ~(1ull << bit);
		check_decodes(&attr, &some);
	}
}

static void random_case(uint64_t *random, struct perf_event_attr *attr, struct shape *shape)
{
	*attr = (struct perf_event_attr){
		.sample_type = next_random(random) & ALL_FIELDS,
		.read_format = next_random(random) & 0x1f,
		.branch_sample_type =
			next_random(random) & (PERF_SAMPLE_BRANCH_HW_INDEX | BRANCH_COUNTERS),
		.sample_regs_user = next_random(random),
		.sample_regs_intr = next_random(random) & 0xff,
	};
	*shape = (struct shape){
		.n_callchain = (uint32_t)random_below(random, 5),
		.n_rows = (uint32_t)random_below(random, 34),
		.raw_bytes = (uint32_t)random_below(random, 4) * 8 + 4,
		.n_values = (uint32_t)random_below(random, 4),
		.stack_bytes = (uint32_t)random_below(random, 3) * 8,
		.aux_bytes = (uint32_t)random_below(random, 3) * 8,
		.regs_user = next_random(random) >> 63,
		.regs_intr = next_random(random) >> 63,
		.abi_32 = next_random(random) >> 63,
	};
	if (shape->stack_bytes > 0)
		shape->stack_unread = (uint32_t)random_below(random, shape->stack_bytes + 1);
}

static void test_any_mixture_of_fields(void **state)
{
	uint64_t random = 1;

	for (int i = 0; i < 20000; i++) {
		struct perf_event_attr attr;
		struct shape shape;

		random_case(&random, &attr, &shape);
		check_decodes(&attr, &shape);
	}
}

/* A record shorter by a word or more than it should be is a fault, whatever is missing. */
static void test_a_truncated_sample_is_a_fault(void **state)
{
	uint64_t random = 2;

	for (int i = 0; i < 2000; i++) {
		struct perf_event_header *record;
		struct perf_event_attr attr;
		struct decoder *d;
		struct fault fault;
		struct shape shape;
		struct event e;

		random_case(&random, &attr, &shape);
		shape.n_rows++; /* without rows the index may be missing, see below */
		make_sample(&attr, &shape);
		record = (void *)bytes.data;
		if (record->size <= sizeof(*record))
			continue;
		record->size = (uint16_t)(record->size - 1 -
					  random_below(&random, record->size - sizeof(*record)));
		d = make_decoder(&attr);
		assert_int_equal(decoder_decode(d, record, &e, &fault), -EBADMSG);
		assert_true(fault.text[0]);
		decoder_free(d);
	}
}

static void test_no_rows_with_and_without_the_index(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
	};
	struct shape shape = { .without_hw_idx = true };
	struct decoder *d = make_decoder(&attr);
	struct fault fault;
	struct event e;

	assert_int_equal(decoder_decode(d, make_sample(&attr, &shape), &e, &fault), 0);
	assert_false(e.sample.has_hw_idx);
	check_sample(&attr, &shape, &e);
	decoder_free(d);

	attr.sample_type |= PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR;
	check_decodes(&attr, &shape);
	shape.without_hw_idx = false;
	check_decodes(&attr, &shape);
}

/* What follows it is read right, whether the index is there or not. */
static void test_no_rows_before_registers_and_a_stack(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 0xff01ff,
		.sample_regs_intr = 0x1ff,
	};

	for (unsigned int i = 0; i < 16; i++) {
		struct shape shape = {
			.without_hw_idx = i & 1,
			.regs_user = i & 2,
			.regs_intr = i & 4,
			.stack_bytes = i & 8 ? 512 : 0,
			.stack_unread = 16 * (i & 8),
		};

		check_decodes(&attr, &shape);
	}
}

static void test_more_of_a_stack_than_was_asked_for_is_a_fault(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_STACK_USER };
	struct shape shape = { .stack_bytes = 64, .stack_unread = (uint32_t)-1 };
	struct decoder *d = make_decoder(&attr);
	struct fault fault;
	struct event e;

	assert_int_equal(decoder_decode(d, make_sample(&attr, &shape), &e, &fault), -EBADMSG);
	decoder_free(d);
}

/* The word of a count is the last of the record, and says there is more, or so much that it wraps.
 */
static void test_counts_that_overflow(void **state)
{
	static const uint64_t counts[] = {
		1,          2,          UINT64_MAX, UINT64_MAX / 8,
		1ull << 61, 1ull << 60, 1ull << 32, UINT64_MAX / 24 + 1
	};
	static const struct perf_event_attr attrs[] = {
		{ .sample_type = PERF_SAMPLE_CALLCHAIN },
		{ .sample_type = PERF_SAMPLE_BRANCH_STACK },
		{ .sample_type = PERF_SAMPLE_BRANCH_STACK, .branch_sample_type = BRANCH_COUNTERS },
		{ .sample_type = PERF_SAMPLE_READ, .read_format = PERF_FORMAT_GROUP },
		{ .sample_type = PERF_SAMPLE_READ,
		  .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST },
		{ .sample_type = PERF_SAMPLE_STACK_USER },
		{ .sample_type = PERF_SAMPLE_AUX },
		{ .sample_type = PERF_SAMPLE_RAW },
	};

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		struct decoder *d = make_decoder(&attrs[i]);

		for (size_t k = 0; k < ARRAY_SIZE(counts); k++) {
			uint64_t count = counts[k];
			struct fault fault;
			struct event e;

			if (attrs[i].sample_type == PERF_SAMPLE_RAW)
				count |= 0xfffffff0; /* 4 bytes of it count */
			begin_record(&bytes, PERF_RECORD_SAMPLE, 0);
			put_u64(&bytes, count);
			assert_int_equal(decoder_decode(d, end_record(&bytes), &e, &fault),
					 -EBADMSG);
		}
		decoder_free(d);
	}
}

static void test_the_period_is_the_attr_s_where_samples_have_none(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP, .sample_period = 500 };
	struct decoder *d = make_decoder(&attr);
	struct fault fault;
	struct event e;

	assert_int_equal(decoder_decode(d, make_sample(&attr, &some), &e, &fault), 0);
	assert_int_equal(e.sample.period, 500);
	decoder_free(d);
	attr.freq = 1;
	d = make_decoder(&attr);
	assert_int_equal(decoder_decode(d, make_sample(&attr, &some), &e, &fault), 0);
	assert_int_equal(e.sample.period, 1);
	decoder_free(d);
}

static void test_what_is_not_known_is_passed_over(void **state)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK |
						       1ull << 40 };
	struct shape shape = { .n_rows = 2 };
	struct decoder *d = make_decoder(&attr);
	struct event e;

	begin_record(&bytes, 50, 0); /* a kind of record yet to come */
	put_u64(&bytes, 1);
	decode_ok(d, &e);
	assert_int_equal(e.kind, EVENT_UNKNOWN);
	begin_record(&bytes, PERF_RECORD_AUX, 0); /* a known one that has no sample */
	put_u64(&bytes, 1);
	decode_ok(d, &e);
	assert_int_equal(e.kind, EVENT_OTHER);
	begin_record(&bytes, 70, 0); /* perf's own */
	decode_ok(d, &e);
	assert_int_equal(e.kind, EVENT_OTHER);
	make_sample(&attr, &shape);
	put_u64(&bytes, 0x1234); /* a field yet to come: it follows the known ones */
	decode_ok(d, &e);
	check_sample(&attr, &shape, &e);
	decoder_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields_together),
		cmocka_unit_test(test_each_field_alone_and_each_missing),
		cmocka_unit_test(test_any_mixture_of_fields),
		cmocka_unit_test(test_a_truncated_sample_is_a_fault),
		cmocka_unit_test(test_no_rows_with_and_without_the_index),
		cmocka_unit_test(test_no_rows_before_registers_and_a_stack),
		cmocka_unit_test(test_more_of_a_stack_than_was_asked_for_is_a_fault),
		cmocka_unit_test(test_counts_that_overflow),
		cmocka_unit_test(test_the_period_is_the_attr_s_where_samples_have_none),
		cmocka_unit_test(test_what_is_not_known_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
