/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder on samples, of one source and of several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "common/record/decoder.h"
#include "tests/perfdata/bytes.h"
#include "tests/support/random.h"

#define ALL_FIELDS      ((1ull << 25) - 1) /* of sample_type that Linux 6.1 knows */
#define BRANCH_COUNTERS (1ull << 19)       /* newer than some headers */

static struct bytes bytes; /* too big for the stack */

static struct decoder *make_decoder(const struct perf_event_attr *attr)
{
	struct decoder *d = NULL;
	struct fault fault;

	assert_int_equal(decoder_new(&d), 0);
	assert_int_equal(decoder_add_source(d, attr, NULL, 0, &fault), 0);
	return d;
}

/* What a sample is made of, beside its attr. */
struct shape {
	uint32_t n_callchain, n_rows, raw_bytes, n_values, stack_bytes, aux_bytes;
	bool regs_user, regs_intr, without_hw_idx;
};

static void put_read(const struct perf_event_attr *attr, const struct shape *shape)
{
	uint64_t f = attr->read_format;
	uint64_t n = f & PERF_FORMAT_GROUP ? shape->n_values : 1;

	if (f & PERF_FORMAT_GROUP) {
		put_u64(&bytes, n);
	} else {
		put_u64(&bytes, 0xeeee);
		n = 0;
	}
	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(&bytes, 0xeee1);
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(&bytes, 0xeee2);
	for (uint64_t i = 0; i < n; i++) {
		put_u64(&bytes, 0xeee3);
		if (f & PERF_FORMAT_ID)
			put_u64(&bytes, 0xeee4);
		if (f & PERF_FORMAT_LOST)
			put_u64(&bytes, 0xeee5);
	}
	if (!(f & PERF_FORMAT_GROUP) && f & PERF_FORMAT_ID)
		put_u64(&bytes, 0xeee6);
	if (!(f & PERF_FORMAT_GROUP) && f & PERF_FORMAT_LOST)
		put_u64(&bytes, 0xeee7);
}

static void put_filler(size_t n)
{
	for (; n > 0; n--)
		put(&bytes, "\xdd", 1);
}

static void put_rows(const struct perf_event_attr *attr, const struct shape *shape)
{
	put_u64(&bytes, shape->n_rows);
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX && !shape->without_hw_idx)
		put_u64(&bytes, 0x1d);
	for (uint32_t i = 0; i < shape->n_rows; i++) {
		put_u64(&bytes, 0xf000 + i);
		put_u64(&bytes, 0xa000 + i);
		put_u64(&bytes, (uint64_t)(i + 1) << 4 | 1);
	}
	if (attr->branch_sample_type & BRANCH_COUNTERS)
		put_filler(8 * (size_t)shape->n_rows);
}

static void put_regs(bool there, uint64_t mask)
{
	put_u64(&bytes, there ? 2 : 0);
	if (there)
		put_filler(8 * (size_t)__builtin_popcountll(mask));
}

static void put_head(uint64_t t)
{
	if (t & PERF_SAMPLE_IDENTIFIER)
		put_u64(&bytes, 0x77);
	if (t & PERF_SAMPLE_IP)
		put_u64(&bytes, 0x401000);
	if (t & PERF_SAMPLE_TID) {
		put_u32(&bytes, 100);
		put_u32(&bytes, 101);
	}
	if (t & PERF_SAMPLE_TIME)
		put_u64(&bytes, 12345);
	if (t & PERF_SAMPLE_ADDR)
		put_u64(&bytes, 0xadd);
	if (t & PERF_SAMPLE_ID)
		put_u64(&bytes, 0x77);
	if (t & PERF_SAMPLE_STREAM_ID)
		put_u64(&bytes, 0x57);
	if (t & PERF_SAMPLE_CPU) {
		put_u32(&bytes, 3);
		put_u32(&bytes, 0xbad);
	}
	if (t & PERF_SAMPLE_PERIOD)
		put_u64(&bytes, 4000);
}

static void put_words(bool a, bool b, bool c, bool d)
{
	for (int n = a + b + c + d; n > 0; n--)
		put_u64(&bytes, 0xabcd);
}

static void put_tail(const struct perf_event_attr *attr, const struct shape *shape)
{
	uint64_t t = attr->sample_type;

	if (t & PERF_SAMPLE_REGS_USER)
		put_regs(shape->regs_user, attr->sample_regs_user);
	if (t & PERF_SAMPLE_STACK_USER) {
		put_u64(&bytes, shape->stack_bytes);
		put_filler(shape->stack_bytes);
		if (shape->stack_bytes > 0)
			put_u64(&bytes, shape->stack_bytes);
	}
	put_words(t & PERF_SAMPLE_WEIGHT_TYPE, t & PERF_SAMPLE_DATA_SRC,
		  t & PERF_SAMPLE_TRANSACTION, 0);
	if (t & PERF_SAMPLE_REGS_INTR)
		put_regs(shape->regs_intr, attr->sample_regs_intr);
	put_words(t & PERF_SAMPLE_PHYS_ADDR, t & PERF_SAMPLE_CGROUP, t & PERF_SAMPLE_DATA_PAGE_SIZE,
		  t & PERF_SAMPLE_CODE_PAGE_SIZE);
	if (t & PERF_SAMPLE_AUX) {
		put_u64(&bytes, shape->aux_bytes);
		put_filler(shape->aux_bytes);
	}
}

/* A sample as man 2 perf_event_open has it. */
static const struct perf_event_header *make_sample(const struct perf_event_attr *attr,
						   const struct shape *shape)
{
	uint64_t t = attr->sample_type;

	begin_record(&bytes, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_head(t);
	if (t & PERF_SAMPLE_READ)
		put_read(attr, shape);
	if (t & PERF_SAMPLE_CALLCHAIN) {
		put_u64(&bytes, shape->n_callchain);
		for (uint32_t i = 0; i < shape->n_callchain; i++)
			put_u64(&bytes, 0xc000 + i);
	}
	if (t & PERF_SAMPLE_RAW) {
		put_u32(&bytes, shape->raw_bytes);
		put_filler(shape->raw_bytes);
	}
	if (t & PERF_SAMPLE_BRANCH_STACK)
		put_rows(attr, shape);
	put_tail(attr, shape);
	return end_record(&bytes);
}

static void check_sample(const struct perf_event_attr *attr, const struct shape *shape,
			 const struct event *e)
{
	uint64_t t = attr->sample_type;
	const struct sample *s = &e->sample;

	assert_int_equal(e->kind, EVENT_SAMPLE);
	assert_int_equal(s->mode, CPU_MODE_USER);
	assert_int_equal(s->ip, t & PERF_SAMPLE_IP ? 0x401000 : 0);
	assert_int_equal(e->pid, t & PERF_SAMPLE_TID ? 100 : -1);
	assert_int_equal(e->tid, t & PERF_SAMPLE_TID ? 101 : -1);
	assert_int_equal(e->time_ns, t & PERF_SAMPLE_TIME ? 12345 : 0);
	assert_int_equal(e->cpu, t & PERF_SAMPLE_CPU ? 3 : UINT32_MAX);
	assert_int_equal(s->period, t & PERF_SAMPLE_PERIOD ? 4000 : 1);
	assert_int_equal(s->n_callchain, t & PERF_SAMPLE_CALLCHAIN ? shape->n_callchain : 0);
	for (uint32_t i = 0; i < s->n_callchain; i++)
		assert_int_equal(s->callchain[i], 0xc000 + i);
	assert_int_equal(s->n_raw, t & PERF_SAMPLE_RAW ? shape->raw_bytes : 0);
	for (uint32_t i = 0; i < s->n_raw; i++)
		assert_int_equal(((const uint8_t *)s->raw)[i], 0xdd);
	assert_int_equal(s->has_rows, !!(t & PERF_SAMPLE_BRANCH_STACK));
	assert_int_equal(s->n_rows, t & PERF_SAMPLE_BRANCH_STACK ? shape->n_rows : 0);
	for (uint32_t i = 0; i < s->n_rows; i++) {
		assert_int_equal(s->rows[i].from, 0xf000 + i);
		assert_int_equal(s->rows[i].to, 0xa000 + i);
		assert_int_equal(branch_record_cycles(&s->rows[i]), i + 1);
		assert_int_equal(s->rows[i].flags & BRANCH_RECORD_MISPREDICTED, 1);
	}
	if (s->n_rows > 0 && attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		assert_int_equal(s->hw_idx, 0x1d);
}

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
	};
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
static void test_a_sample_cut_short_is_a_fault(void **state)
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

static void add_source(struct decoder *d, uint64_t type, uint64_t id, int expected)
{
	struct perf_event_attr attr = { .sample_type = type, .sample_id_all = 1 };
	struct fault fault;

	assert_int_equal(decoder_add_source(d, &attr, &id, 1, &fault), expected);
}

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

static void decode_ok(const struct decoder *d, struct event *e)
{
	struct fault fault;

	assert_int_equal(decoder_decode(d, end_record(&bytes), e, &fault), 0);
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
		cmocka_unit_test(test_a_sample_cut_short_is_a_fault),
		cmocka_unit_test(test_no_rows_with_and_without_the_index),
		cmocka_unit_test(test_counts_that_overflow),
		cmocka_unit_test(test_the_period_is_the_attr_s_where_samples_have_none),
		cmocka_unit_test(test_sources_of_other_layouts_are_told_apart_by_identifier),
		cmocka_unit_test(test_sources_are_told_apart_by_id_within_the_sample),
		cmocka_unit_test(test_sources_that_nothing_tells_apart_are_refused),
		cmocka_unit_test(test_what_is_not_known_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
