/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the decoder: makes samples of any layout, and checks the events that they become.
 * Included after cmocka.h. */
#pragma once

#include "tests/support/decoder-fixture.h"

/* What a sample is made of, beside its attr. */
struct shape {
	uint32_t n_callchain, n_rows, raw_bytes, n_values, stack_bytes, aux_bytes;
	uint32_t stack_unread; /* of the stack's bytes */
	bool regs_user, regs_intr, without_hw_idx;
	bool abi_32; /* of the user's registers */
};

static inline void put_read(const struct perf_event_attr *attr, const struct shape *shape)
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

static inline void put_filler(size_t n)
{
	for (; n > 0; n--)
		put(&bytes, "\xdd", 1);
}

static inline void put_rows(const struct perf_event_attr *attr, const struct shape *shape)
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

/* Of each register its number, and 0x4e00. */
static inline void put_regs(uint64_t abi, uint64_t mask)
{
	put_u64(&bytes, abi);
	for (; abi != PERF_SAMPLE_REGS_ABI_NONE && mask != 0; mask &= mask - 1)
		put_u64(&bytes, 0x4e00 + (uint64_t)__builtin_ctzll(mask));
}

static inline uint64_t user_abi(const struct shape *shape)
{
	if (!shape->regs_user)
		return PERF_SAMPLE_REGS_ABI_NONE;
	return shape->abi_32 ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64;
}

static inline void put_head(uint64_t t)
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

static inline void put_words(bool a, bool b, bool c, bool d)
{
	for (int n = a + b + c + d; n > 0; n--)
		put_u64(&bytes, 0xabcd);
}

static inline void put_tail(const struct perf_event_attr *attr, const struct shape *shape)
{
	uint64_t t = attr->sample_type;

	if (t & PERF_SAMPLE_REGS_USER)
		put_regs(user_abi(shape), attr->sample_regs_user);
	if (t & PERF_SAMPLE_STACK_USER) {
		put_u64(&bytes, shape->stack_bytes);
		put_filler(shape->stack_bytes);
		if (shape->stack_bytes > 0)
			put_u64(&bytes, shape->stack_bytes - shape->stack_unread);
	}
	put_words(t & PERF_SAMPLE_WEIGHT_TYPE, t & PERF_SAMPLE_DATA_SRC,
		  t & PERF_SAMPLE_TRANSACTION, 0);
	if (t & PERF_SAMPLE_REGS_INTR)
		put_regs(shape->regs_intr ? PERF_SAMPLE_REGS_ABI_64 : 0, attr->sample_regs_intr);
	put_words(t & PERF_SAMPLE_PHYS_ADDR, t & PERF_SAMPLE_CGROUP, t & PERF_SAMPLE_DATA_PAGE_SIZE,
		  t & PERF_SAMPLE_CODE_PAGE_SIZE);
	if (t & PERF_SAMPLE_AUX) {
		put_u64(&bytes, shape->aux_bytes);
		put_filler(shape->aux_bytes);
	}
}

/* A sample as man 2 perf_event_open has it. */
static inline const struct perf_event_header *make_sample(const struct perf_event_attr *attr,
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

static inline void check_user(const struct perf_event_attr *attr, const struct shape *shape,
			      const struct sample *s)
{
	bool registers = attr->sample_type & PERF_SAMPLE_REGS_USER && shape->regs_user;
	bool stack = attr->sample_type & PERF_SAMPLE_STACK_USER && shape->stack_bytes > 0;
	uint64_t mask = registers ? attr->sample_regs_user : 0;

	assert_int_equal(!!s->user_registers, registers);
	assert_int_equal(s->user_registers_mask, mask);
	assert_int_equal(s->user_is_32_bit, registers && shape->abi_32);
	for (unsigned int i = 0; mask != 0; mask &= mask - 1, i++)
		assert_int_equal(s->user_registers[i], 0x4e00 + __builtin_ctzll(mask));
	assert_int_equal(!!s->user_stack, stack);
	assert_int_equal(s->n_user_stack, stack ? shape->stack_bytes - shape->stack_unread : 0);
	for (uint32_t i = 0; i < s->n_user_stack; i++)
		assert_int_equal(s->user_stack[i], 0xdd);
}

static inline void check_sample(const struct perf_event_attr *attr, const struct shape *shape,
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
	check_user(attr, shape, s);
}
