// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The program that runs at each overflow of a sampling event: takes the sample's stacks, or branch
 * rows, and writes one record into the ring of its CPU.
 *
 * It runs with interrupts off, or in an NMI: it touches what is its CPU's alone, takes no lock and
 * allocates nothing. One object serves kernels from 5.10 on; what it reads of the kernel's own
 * structures is found by CO-RE.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/sample.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Settings, constant from loading on: the kernel drops what they switch off. */
const volatile __u64 period_ns =
	0; /* of a sampling clock that ticks in the idle task, too; else 0 */
const volatile _Bool take_user = 1; /* the user's stack, by frame pointers */
const volatile _Bool take_kernel = 1;
const volatile _Bool take_cgroup = 1;
const volatile _Bool take_rows = 0;

/*
 * Where a sample is put together. Three masks bound it in the verifier's eyes: of where the user's
 * stack begins, where the rows begin, and where all ends.
 */
#define USER_AT_MASK 0xff
#define ROWS_AT_MASK 0x1ff
#define BYTES_MASK   0x1fff

struct scratch {
	struct bpf_sample sample;
	__u64 words[(BYTES_MASK + 1) / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} rings SEC(".maps");

/* As many as there are CPUs: the loader says. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_counters);
} counters SEC(".maps");

/* Of the kernel's own, what is read here. */
struct perf_branch_stack {
	__u64 nr;
	__u64 hw_idx;
} __attribute__((preserve_access_index));

struct perf_sample_data {
	__u64 sample_flags; /* since 6.1 */
	struct perf_branch_stack *br_stack;
} __attribute__((preserve_access_index));

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
} __attribute__((preserve_access_index));

/* Keeps the compiler from deducing that a mask has no effect, and the verifier from missing it. */
#define MASK(x, mask) asm volatile("%0 &= %1" : "+r"(x) : "i"(mask))

/*
 * Periods that passed without a run of the program: the kernel was running another BPF program or was
 * in a map's system call, held interrupts off, or had stopped the event; or a hypervisor had the
 * CPU. A run that comes late is followed by one in time, so that half periods are rounded.
 */
static __always_inline void count_periods(struct bpf_counters *c)
{
	__u64 now = bpf_ktime_get_ns(), n;

	if (c->due_ns == 0) {
		c->due_ns = now;
		return;
	}
	n = (now - c->due_ns + period_ns / 2) / period_ns;
	c->due_ns += n * period_ns;
	c->skipped += (__s64)n - 1;
}

/*
 * A stack, its marker first, at @at of the words: where the words end then. Nothing where there is none.
 */
static __always_inline __u64 add_stack(void *ctx, struct scratch *s, __u64 at, __u64 flags,
				       __u64 marker)
{
	long n;

	MASK(at, USER_AT_MASK);
	n = bpf_get_stack(ctx, &s->words[at + 1], BPF_SAMPLE_MAX_FRAMES * sizeof(__u64), flags);
	if (n <= 0)
		return at;
	s->words[at] = marker;
	return at + 1 + (__u64)n / sizeof(__u64);
}

/* The physical index of the newest row, where the kernel has a branch stack for this sample. */
static __always_inline void add_hw_idx(void *ctx, struct bpf_sample *s)
{
	struct bpf_perf_event_data_kern kern;
	struct perf_sample_data *data;
	struct perf_branch_stack *stack;

	/* The context that a program sees is not its kernel's: only its bytes may be read so. */
	if (bpf_probe_read_kernel(&data, sizeof(data), ctx + bpf_core_field_offset(kern.data)) < 0)
		return;
	if (bpf_core_field_exists(data->sample_flags) &&
	    !(BPF_CORE_READ(data, sample_flags) & PERF_SAMPLE_BRANCH_STACK))
		return;
	stack = BPF_CORE_READ(data, br_stack);
	if (!stack)
		return;
	s->hw_idx = BPF_CORE_READ(stack, hw_idx);
	s->flags |= BPF_SAMPLE_HAS_HW_IDX;
}

/* The branch rows there are, at @at of the words: where the words end then. */
static __always_inline __u64 add_rows(void *ctx, struct scratch *s, __u64 at)
{
	const __u64 n_bytes = sizeof(struct perf_branch_entry);
	long n;

	MASK(at, ROWS_AT_MASK);
	n = bpf_read_branch_records(ctx, &s->words[at], BPF_SAMPLE_MAX_ROWS * n_bytes, 0);
	if (n < 0)
		return at;
	s->sample.flags |= BPF_SAMPLE_HAS_ROWS;
	s->sample.n_rows = (__u64)n / n_bytes;
	add_hw_idx(ctx, &s->sample);
	return at + (__u64)n / sizeof(__u64);
}

static __always_inline void write_sample(void *ctx, const struct scratch *s, __u64 n_words,
					 struct bpf_counters *c)
{
	const __u64 n_head = sizeof(s->sample.n_bytes);
	__u64 n_bytes = sizeof(s->sample) + n_words * sizeof(__u64) - n_head;
	long r;

	MASK(n_bytes, BYTES_MASK);
	r = bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, (void *)&s->sample.pid, n_bytes);
	if (r == 0)
		c->written++;
	else if (r == -28 /* ENOSPC */)
		c->ring_full++;
	else
		c->no_ring++;
}

SEC("perf_event")
int take_sample(struct bpf_perf_event_data *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	__u64 task = bpf_get_current_pid_tgid(), at = 0;
	struct bpf_counters *c = bpf_map_lookup_elem(&counters, &cpu);
	struct scratch *s = bpf_map_lookup_elem(&scratch, &zero);
	__u64 ip = PT_REGS_IP(&ctx->regs);

	if (!c || !s) /* for the verifier */
		return 0;
	if (period_ns) {
		count_periods(c);
		if (task == 0) {
			c->idle++;
			return 0;
		}
	}
	c->taken++;

	s->sample.pid = task >> 32;
	s->sample.tid = (__u32)task;
	s->sample.uid = (__u32)bpf_get_current_uid_gid();
	s->sample.ip = ip;
	s->sample.period = ctx->sample_period;
	s->sample.cgroup = take_cgroup ? bpf_get_current_cgroup_id() : 0;
	s->sample.hw_idx = 0;
	s->sample.n_rows = 0;
	s->sample.flags = 0;
	if (take_kernel && ip >> 63)
		at = add_stack(ctx, s, at, 0, PERF_CONTEXT_KERNEL);
	if (take_user)
		at = add_stack(ctx, s, at, BPF_F_USER_STACK, PERF_CONTEXT_USER);
	s->sample.n_callchain = at;
	if (take_rows)
		at = add_rows(ctx, s, at);
	write_sample(ctx, s, at, c);
	return 0;
}
