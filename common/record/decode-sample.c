/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/decode-sample.h"

#include <errno.h>

bool decode_ids(struct cursor *c, uint64_t type, struct event *ret)
{
	uint64_t word;
	uint32_t pair[2];

	if (type & PERF_SAMPLE_TID) {
		if (!cursor_take(c, pair, 8))
			return false;
		ret->pid = event_task_id(pair[0]);
		ret->tid = event_task_id(pair[1]);
	}
	if (type & PERF_SAMPLE_TIME) {
		if (!cursor_take(c, &word, 8))
			return false;
		ret->time_ns = word != UINT64_MAX ? word : 0;
	}
	return true;
}

static bool skip_read(struct cursor *c, uint64_t format)
{
	uint64_t nr = 1, value_bytes = 8, head = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		head += 8;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		head += 8;
	if (format & PERF_FORMAT_ID)
		value_bytes += 8;
	if (format & PERF_FORMAT_LOST)
		value_bytes += 8;
	if (format & PERF_FORMAT_GROUP && !cursor_take(c, &nr, 8))
		return false;
	return cursor_skip(c, head) && nr <= cursor_left(c) / value_bytes &&
	       cursor_skip(c, nr * value_bytes);
}

static bool skip_sized(struct cursor *c)
{
	uint64_t n;

	return cursor_take(c, &n, 8) && cursor_skip(c, n);
}

/* u32 size, data; together padded to 8 bytes. */
static bool take_raw(struct cursor *c, struct sample *s)
{
	uint32_t n;

	if (!cursor_take(c, &n, 4))
		return false;
	s->raw = c->at;
	s->n_raw = n;
	return cursor_skip(c, (((uint64_t)n + 4 + 7) & ~7ull) - 4);
}

static bool skip_regs(struct cursor *c, uint64_t mask)
{
	uint64_t abi;

	return cursor_take(c, &abi, 8) &&
	       (abi == 0 || cursor_skip(c, 8 * (uint64_t)__builtin_popcountll(mask)));
}

/* Threads of the kernel have no registers of user code, and no stack of it. */
static bool take_user_registers(struct cursor *c, uint64_t mask, struct sample *s)
{
	uint64_t abi;

	if (!cursor_take(c, &abi, 8))
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	s->user_registers = cursor_take_array(c, (uint64_t)__builtin_popcountll(mask), 8);
	s->user_registers_mask = mask;
	s->user_is_32_bit = abi == PERF_SAMPLE_REGS_ABI_32;
	return s->user_registers;
}

/* u64 size, that many bytes, and u64 how many of them the kernel could read. */
static bool take_user_stack(struct cursor *c, struct sample *s)
{
	uint64_t n, n_read;
	const uint8_t *bytes;

	if (!cursor_take(c, &n, 8))
		return false;
	if (n == 0)
		return true;
	bytes = cursor_take_array(c, n, 1);
	if (!bytes || !cursor_take(c, &n_read, 8) || n_read > n)
		return false;
	s->user_stack = bytes;
	s->n_user_stack = (uint32_t)n_read;
	return true;
}

static bool take_callchain(struct cursor *c, struct sample *s)
{
	uint64_t n;

	if (!cursor_take(c, &n, 8))
		return false;
	s->callchain = cursor_take_array(c, n, 8);
	s->n_callchain = (uint32_t)n;
	return s->callchain;
}

static bool take_rows(struct cursor *c, const struct perf_event_attr *attr, struct sample *s)
{
	uint64_t n;

	if (!cursor_take(c, &n, 8))
		return false;
	s->has_rows = true;
	s->gaps = !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY);
	s->call_stack = attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	if (attr->branch_sample_type & BRANCH_HW_INDEX) {
		/* Without rows the kernel may leave the index out, too. */
		s->has_hw_idx = cursor_take(c, &s->hw_idx, 8);
		if (!s->has_hw_idx && n != 0)
			return false;
	}
	s->rows = cursor_take_array(c, n, sizeof(struct branch_record));
	s->n_rows = (uint32_t)n;
	if (!s->rows)
		return false;
	return !(attr->branch_sample_type & BRANCH_COUNTERS) || cursor_skip(c, 8 * n);
}

/* What comes after the rows; all of it must fit. */
static bool take_rest(struct cursor *c, const struct perf_event_attr *attr, struct sample *s)
{
	static const uint64_t words[] = {
		PERF_SAMPLE_PHYS_ADDR,
		PERF_SAMPLE_CGROUP,
		PERF_SAMPLE_DATA_PAGE_SIZE,
		PERF_SAMPLE_CODE_PAGE_SIZE,
	};
	uint64_t t = attr->sample_type;

	if (t & PERF_SAMPLE_REGS_USER && !take_user_registers(c, attr->sample_regs_user, s))
		return false;
	if (t & PERF_SAMPLE_STACK_USER && !take_user_stack(c, s))
		return false;
	if (t & PERF_SAMPLE_WEIGHT_TYPE && !cursor_skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_DATA_SRC && !cursor_skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_TRANSACTION && !cursor_skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_REGS_INTR && !skip_regs(c, attr->sample_regs_intr))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (t & words[i] && !cursor_skip(c, 8))
			return false;
	return !(t & PERF_SAMPLE_AUX) || skip_sized(c);
}

/*
 * Without rows the kernel may leave the index out, so that the word taken for it is the next
 * field's. The reading that ends where the record ends is right.
 */
static bool take_rest_of_no_rows(struct cursor *c, const struct perf_event_attr *attr,
				 struct sample *s)
{
	struct cursor without_index = { c->at - 8, c->end };
	struct sample without = *s;
	bool fits = take_rest(c, attr, s);

	if (fits && cursor_left(c) == 0)
		return true;
	without.has_hw_idx = false;
	without.hw_idx = 0;
	if (!take_rest(&without_index, attr, &without))
		return fits;
	if (!fits || cursor_left(&without_index) == 0)
		*s = without;
	return true;
}

static bool take_sample_body(struct cursor *c, const struct perf_event_attr *attr,
			     struct event *ret)
{
	struct sample *s = &ret->sample;
	uint64_t t = attr->sample_type;

	if (t & PERF_SAMPLE_IDENTIFIER && !cursor_skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_IP && !cursor_take(c, &s->ip, 8))
		return false;
	if (!decode_ids(c, t, ret))
		return false;
	if (!cursor_skip(c, 8 * (uint64_t)(!!(t & PERF_SAMPLE_ADDR) + !!(t & PERF_SAMPLE_ID) +
					   !!(t & PERF_SAMPLE_STREAM_ID))))
		return false;
	if (t & PERF_SAMPLE_CPU && (!cursor_take(c, &ret->cpu, 4) || !cursor_skip(c, 4)))
		return false;
	if (t & PERF_SAMPLE_PERIOD && !cursor_take(c, &s->period, 8))
		return false;
	if (t & PERF_SAMPLE_READ && !skip_read(c, attr->read_format))
		return false;
	if (t & PERF_SAMPLE_CALLCHAIN && !take_callchain(c, s))
		return false;
	if (t & PERF_SAMPLE_RAW && !take_raw(c, s))
		return false;
	if (t & PERF_SAMPLE_BRANCH_STACK && !take_rows(c, attr, s))
		return false;
	if (s->has_hw_idx && s->n_rows == 0)
		return take_rest_of_no_rows(c, attr, s);
	return take_rest(c, attr, s);
}

int decode_sample(struct cursor *c, const struct perf_event_header *record,
		  const struct perf_event_attr *attr, struct event *ret, struct fault *fault)
{
	struct sample *s = &ret->sample;

	*s = (struct sample){ .period = 1, .uid = UINT32_MAX };
	if (!(attr->sample_type & PERF_SAMPLE_PERIOD) && !attr->freq)
		s->period = attr->sample_period ? attr->sample_period : 1;
	s->mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (!take_sample_body(c, attr, ret))
		return fault_set(fault, -EBADMSG, "sample ends before what it should hold");
	ret->kind = EVENT_SAMPLE;
	return 0;
}
