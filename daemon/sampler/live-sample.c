/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/live-sample.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include "bpf/sample.h"

/* The struct begins before the raw data, with the number of their bytes. */
#define N_BEFORE sizeof(((struct bpf_sample *)NULL)->n_bytes)

#define RECORD_WORDS (sizeof(struct branch_record) / sizeof(uint64_t))

static_assert(BPF_ROW_AFTER_GAP == BRANCH_RECORD_AFTER_GAP,
	      "the flags of a branch record are copied");
static_assert(offsetof(struct bpf_sample, pid) == N_BEFORE, "raw data begins with the pid");

static void take_user_code(struct sample *s, const struct bpf_sample *from, const uint64_t *words)
{
	s->user_registers = words;
	s->user_registers_mask = BPF_SAMPLE_REGISTERS_MASK;
	s->user_stack = (const uint8_t *)(words + BPF_SAMPLE_N_REGISTERS);
	s->n_user_stack = from->n_stack;
}

int live_sample_decode(struct event *event)
{
	struct sample *s = &event->sample;
	const struct bpf_sample *from;
	const uint64_t *words;
	size_t n_words;

	if (s->n_raw + N_BEFORE < sizeof(*from))
		return -EBADMSG;
	from = (const void *)((const char *)s->raw - N_BEFORE);
	words = (const uint64_t *)(from + 1);
	n_words = from->n_callchain + from->n_rows * RECORD_WORDS;
	if (from->flags & BPF_SAMPLE_REGISTERS)
		n_words += BPF_SAMPLE_N_REGISTERS +
			   ((size_t)from->n_stack + sizeof(*words) - 1) / sizeof(*words);
	if (n_words > (s->n_raw + N_BEFORE - sizeof(*from)) / sizeof(*words))
		return -EBADMSG;

	event->pid = (int32_t)from->pid;
	event->tid = (int32_t)from->tid;
	s->ip = from->ip;
	s->period = from->period;
	s->mode = address_is_kernel(from->ip) ? CPU_MODE_KERNEL : CPU_MODE_USER;
	s->cgroup = from->cgroup;
	s->uid = from->uid;
	s->restricted = from->flags & BPF_SAMPLE_RESTRICTED;
	s->no_memory = from->flags & BPF_SAMPLE_NO_MEMORY;
	s->cold = from->flags & BPF_SAMPLE_COLD;
	s->introduces = from->flags & BPF_SAMPLE_INTRODUCES;
	s->space = from->space;
	s->n_callchain = from->n_callchain;
	s->callchain = words;
	s->user_is_32_bit = from->flags & BPF_SAMPLE_32_BIT;
	s->has_rows = from->flags & BPF_SAMPLE_HAS_ROWS;
	s->has_hw_idx = from->flags & BPF_SAMPLE_HAS_HW_IDX;
	s->call_stack = from->flags & BPF_SAMPLE_CALL_STACK;
	s->gaps = from->flags & BPF_SAMPLE_GAPS;
	s->n_zero = from->n_zero;
	s->n_wrong_path = from->n_wrong_path;
	s->hw_idx = from->hw_idx;
	s->n_rows = from->n_rows;
	s->rows = (const struct branch_record *)(words + from->n_callchain);
	if (from->flags & BPF_SAMPLE_REGISTERS)
		take_user_code(s, from, words + from->n_callchain + from->n_rows * RECORD_WORDS);
	return 0;
}
