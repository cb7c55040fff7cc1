// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The programs that run at each overflow of a sampling event. They take the stacks and the branch
 * records of the sample, and write one record into the ring of the CPU.
 *
 * They run with interrupts off, or in an NMI: they use data of their own CPU only, take no lock and
 * allocate nothing. One object serves kernels from 5.10 on; CO-RE finds the fields of kernel
 * structs.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/idle.h"
#include "bpf/sample.h"
#include "bpf/ticks.h"
#include "bpf/user-stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Settings, constant once loaded: the verifier removes the code that they disable. */
const volatile _Bool by_clock = 0; /* that also ticks in the idle task */
const volatile __u8 user_stack = BPF_USER_FRAME_POINTERS;
const volatile _Bool take_kernel = 1;
const volatile _Bool take_cgroup = 1;
const volatile _Bool take_rows = 0;
const volatile __u32 depth = 0;            /* branch records that the hardware keeps */
const volatile _Bool has_hw_idx = 0;       /* the index of the newest record is known */
const volatile _Bool some_kinds = 0;       /* not all kinds of branches are recorded */
const volatile _Bool leave_wrong_path = 0; /* records that are not copied */
const volatile _Bool leave_kernel = 0;

/* The task filter; an empty list restricts nothing. */
const volatile __u32 n_pids = 0, n_uids = 0;
const volatile __u32 pids[BPF_MAX_WANTED] = {}, uids[BPF_MAX_WANTED] = {};
const volatile _Bool some_units = 0;

/*
 * The memory in which a sample is assembled. Masks prove its bounds to the verifier: of the start
 * of the user's stack, the start of the branch records, and the end.
 */
#define USER_AT_MASK 0xff
#define ROWS_AT_MASK 0x1ff
#define BYTES_MASK   0xffff
#define PAGE_BYTES   0x1000
#define PIECE_MASK   0x1fff
#define STACK_MASK   (BPF_SAMPLE_MAX_STACK - 1)
#define WORDS_MASK   0x3ff
#define ROWS_MASK    0x3f

#define ROW_WORDS (sizeof(struct perf_branch_entry) / sizeof(__u64))

struct scratch {
	struct bpf_sample sample;
	/* room for a branch record at any index, then for registers and a page at any place */
	__u64 words[WORDS_MASK + ROW_WORDS];
	__u8 more[BYTES_MASK];
	__u64 n_kept; /* in memory, so that the verifier does not track its values */
	volatile __u64 forgotten;
	bpf_user_pt_regs_t registers;
	__u64 idle_task, n_idled; /* at the last run: see count_idling() */
};

/* One entry per CPU: the loader sets the number. A per-CPU array has no entries of this size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} rings SEC(".maps");

/*
 * Control groups of units that are not wanted. The daemon inserts each when it has seen the first
 * sample of it: only the daemon knows the unit of a control group.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* raised by the loader if there is a filter for units */
	__type(key, __u64);
	__type(value, __u8);
} refused SEC(".maps");

/* One entry per CPU: the loader sets the number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_counters);
} counters SEC(".maps");

/* The fields of kernel structs that are read here. */
struct perf_branch_stack {
	__u64 nr;
	__u64 hw_idx;
} __attribute__((preserve_access_index));

struct perf_sample_data {
	__u64 sample_flags; /* since 6.1 */
	struct perf_branch_stack *br_stack;
} __attribute__((preserve_access_index));

/* In assembly, so that the compiler does not remove a mask that the verifier needs. */
#define MASK(x, mask) asm volatile("%0 &= %1" : "+r"(x) : "i"(mask))

/* The same number, of which the verifier knows nothing any more: to it, ways that differed in that
 * alone are one, and it need not follow each of them on. */
static __always_inline __u64 forget(struct scratch *s, __u64 value)
{
	s->forgotten = value;
	return s->forgotten;
}

/*
 * Counts periods without a run of the program: the kernel ran another BPF program or a map's system
 * call, held interrupts off, or had stopped the event; or a hypervisor had the CPU. After a late
 * run the next one is on time, so the number of periods is rounded. Only times count in which the
 * CPU was not idle: a timer that sleeps with its CPU loses nothing. Where the timer wakes the CPU,
 * the program sees the idle task; where it does not, as in some virtual machines, a run is late
 * after the CPU has idled.
 */
static __always_inline void count_periods(struct bpf_counters *c, struct scratch *s, __u64 now,
					  _Bool idle)
{
	__u64 idled = count_idling(&s->idle_task), period = c->period_ns, n;
	_Bool has_idled = idled != s->n_idled;

	c->ran_ns = now;
	s->n_idled = idled;
	if (idle || period == 0) {
		c->due_ns = 0;
		return;
	}
	n = (now - c->due_ns + period / 2) / period;
	if (c->due_ns == 0 || (has_idled && n > 1)) {
		c->due_ns = now;
		return;
	}
	c->due_ns += n * period;
	c->skipped += (__s64)n - 1;
}

/* Adds a stack, its marker first, at index @at of the words, unless it is empty. Returns the end.
 */
static __always_inline __u64 add_stack(void *ctx, struct scratch *s, __u64 at, __u32 max_frames,
				       __u64 flags, __u64 marker)
{
	long n;

	MASK(at, USER_AT_MASK);
	n = bpf_get_stack(ctx, &s->words[at + 1], max_frames * sizeof(__u64), flags);
	if (n <= 0)
		return at;
	s->words[at] = marker;
	return at + 1 + (__u64)n / sizeof(__u64);
}

/* Adds the physical index of the newest record, if the kernel has a branch stack for this sample.
 */
static __always_inline void add_hw_idx(void *ctx, struct bpf_sample *s)
{
	struct bpf_perf_event_data_kern kern;
	struct perf_sample_data *data;
	struct perf_branch_stack *stack;

	/* The type of the program's context is not the kernel's: so its bytes are read. */
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

/*
 * Adds the user's stack as the kernel finds it by frame pointers, also of programs of 32 bits, for
 * which branchd has no tables. In the call-stack mode the branch records have the callers: then
 * only the address in user space is added, and only in the kernel, where the ip is another one.
 */
static __always_inline __u64 add_user(void *ctx, struct scratch *s, __u64 at, _Bool in_kernel,
				      enum bpf_event event)
{
	if (event == BPF_EVENT_ANY &&
	    (user_stack == BPF_USER_FRAME_POINTERS || s->sample.flags & BPF_SAMPLE_32_BIT))
		return add_stack(ctx, s, at, BPF_SAMPLE_MAX_FRAMES, BPF_F_USER_STACK,
				 PERF_CONTEXT_USER);
	if (event == BPF_EVENT_CALLS && in_kernel)
		return add_stack(ctx, s, at, 1, BPF_F_USER_STACK, PERF_CONTEXT_USER);
	return at;
}

/* In the third word of a branch record: see struct perf_branch_entry since Linux 6.1. */
#define SPEC_MASK       (3ull << 24)
#define SPEC_WRONG_PATH (1ull << 24)

/* Skips empty records. They are the oldest ones, after the hardware was cleared. */
static __always_inline __u64 skip_empty_rows(struct scratch *s, __u64 at, __u64 n)
{
	for (int i = 0; i < BPF_SAMPLE_MAX_ROWS; i++) {
		__u64 last = at + (n - 1) * ROW_WORDS;

		MASK(last, WORDS_MASK);
		if (n == 0 || s->words[last] != 0 || s->words[last + 1] != 0)
			break;
		n--;
	}
	return n;
}

/* Marks the record at index @at of the words: the next older ones were left out. */
static __always_inline void mark_gap(struct scratch *s, __u64 at)
{
	MASK(at, WORDS_MASK);
	s->words[at + ROW_WORDS - 1] |= BPF_ROW_AFTER_GAP;
}

/*
 * Keeps the wanted ones of @n records, and returns their number. Without the kernel's records,
 * those of user space are as with a filter in the hardware: no gap. At a record of a wrong path the
 * code that ran is not known: a gap.
 */
static __always_inline __u64 pick_rows(struct scratch *s, __u64 at, __u64 n, struct bpf_counters *c)
{
	s->n_kept = 0;
	for (__u64 i = 0; i < BPF_SAMPLE_MAX_ROWS && i < n; i++) {
		__u64 *row = &s->words[at + i * ROW_WORDS];
		__u64 kept = s->n_kept, to;

		MASK(kept, ROWS_MASK);
		to = at + kept * ROW_WORDS;
		if (leave_wrong_path && (row[2] & SPEC_MASK) == SPEC_WRONG_PATH) {
			s->sample.n_wrong_path++;
			if (kept > 0)
				mark_gap(s, at + (kept - 1) * ROW_WORDS);
		} else if (leave_kernel && (row[0] | row[1]) >> 63) {
			c->rows_kernel++;
		} else {
			s->words[to] = row[0];
			s->words[to + 1] = row[1];
			s->words[to + 2] = row[2];
			s->n_kept = kept + 1;
		}
	}
	return s->n_kept;
}

static __always_inline void count_rows(struct bpf_counters *c, __u64 n)
{
	c->snapshots++;
	c->snapshots_empty += n == 0;
	c->snapshots_full += depth && n >= depth;
	c->rows += n;
}

/* Adds the branch records at index @at of the words. Returns the end. */
static __always_inline __u64 add_rows(void *ctx, struct scratch *s, __u64 at,
				      struct bpf_counters *c)
{
	const __u64 n_bytes = sizeof(struct perf_branch_entry);
	__u64 n_read, n;
	long r;

	MASK(at, ROWS_AT_MASK);
	r = bpf_read_branch_records(ctx, &s->words[at], BPF_SAMPLE_MAX_ROWS * n_bytes, 0);
	if (r < 0) { /* the errno differs between kernels */
		c->no_branch_stack++;
		return at;
	}
	n_read = (__u64)r / n_bytes;
	n = skip_empty_rows(s, at, n_read);
	s->sample.n_zero = n_read - n;
	count_rows(c, n);
	if (has_hw_idx && n > 0)
		add_hw_idx(ctx, &s->sample);
	if (leave_wrong_path || leave_kernel)
		n = pick_rows(s, at, n, c);
	s->sample.flags |= BPF_SAMPLE_HAS_ROWS;
	s->sample.n_rows = n;
	return at + n * ROW_WORDS;
}

#if BPF_SAMPLE_N_REGISTERS
/* Copies up to @n bytes of the stack to the @to'th byte of the words: up to the first page that is
 * not in memory, for the program cannot wait for it. Returns how many. */
static __always_inline __u64 copy_stack(struct scratch *s, __u64 to, __u64 from, __u64 n)
{
	__u64 done = 0;

	for (int i = 0; i <= BPF_SAMPLE_MAX_STACK / PAGE_BYTES; i++) {
		__u64 piece = PAGE_BYTES - ((from + done) & (PAGE_BYTES - 1));

		if (piece > n - done)
			piece = n - done;
		if (piece == 0 || done >= BPF_SAMPLE_MAX_STACK)
			break;
		MASK(done, STACK_MASK);
		MASK(piece, PIECE_MASK);
		if (bpf_probe_read_user((void *)s->words + to + done, piece, (void *)from + done) <
		    0)
			break;
		done += piece;
	}
	return done & ~7ull;
}

/* Reads the registers of user code, and says by the flags whether there are any. */
static __always_inline void read_registers(void *ctx, struct scratch *s, _Bool in_kernel)
{
	struct task_struct *task = current_task();

	if (TASK_READ(task, flags) & PF_KTHREAD ||
	    read_user_registers(ctx, task, in_kernel, &s->registers) < 0)
		return;
	s->sample.flags |= is_32_bit(&s->registers) ? BPF_SAMPLE_32_BIT : BPF_SAMPLE_REGISTERS;
}

/* Adds the registers of user code and its stack, behind the word @at. */
static __always_inline void add_copy(struct scratch *s, __u64 at)
{
	struct task_struct *task = current_task();
	__u64 sp = USER_SP(&s->registers), most = ring_bytes(&rings);

	MASK(at, WORDS_MASK);
	put_registers(&s->words[at], &s->registers);
	at = (at + BPF_SAMPLE_N_REGISTERS) * sizeof(__u64);
	if (most > BPF_SAMPLE_MAX_STACK)
		most = BPF_SAMPLE_MAX_STACK;
	s->sample.n_stack = copy_stack(s, at, sp, stack_bytes(task, sp, most));
}
#endif

static __always_inline void write_sample(void *ctx, const struct scratch *s, __u64 n_words,
					 struct bpf_counters *c)
{
	const __u64 n_head = sizeof(s->sample.n_bytes);
	__u64 n_bytes = sizeof(s->sample) + n_words * sizeof(__u64) - n_head;
	long r;

	if (s->sample.flags & BPF_SAMPLE_REGISTERS)
		n_bytes += BPF_SAMPLE_N_REGISTERS * sizeof(__u64) + s->sample.n_stack;

	MASK(n_bytes, BYTES_MASK);
	r = bpf_perf_event_output(ctx, &rings, BPF_F_CURRENT_CPU, (void *)&s->sample.pid, n_bytes);
	if (r == 0)
		c->written++;
	else if (r == -28 /* ENOSPC */)
		c->ring_full++;
	else
		c->no_ring++;
}

static __always_inline _Bool is_listed(const volatile __u32 *list, __u32 n, __u32 value)
{
	for (__u32 i = 0; i < BPF_MAX_WANTED && i < n; i++)
		if (list[i] == value)
			return 1;
	return 0;
}

static __always_inline _Bool is_wanted(const struct bpf_sample *s)
{
	if (n_pids && !is_listed(pids, n_pids, s->pid))
		return 0;
	if (n_uids && !is_listed(uids, n_uids, s->uid))
		return 0;
	return !some_units || !bpf_map_lookup_elem(&refused, &s->cgroup);
}

/*
 * Fills in the task, its user and the control group. The credentials are those that others see: the
 * kernel has a task act with other ones for a moment.
 */
static __always_inline void identify(struct bpf_sample *s, __u64 id)
{
	const struct task_struct *task = current_task();
	const struct cred *cred = TASK_READ(task, real_cred);

	s->pid = id >> 32;
	s->tid = (__u32)id;
	s->uid = TASK_READ(cred, euid.val);
	s->flags = read_restriction(task, cred);
	s->cgroup = take_cgroup ? bpf_get_current_cgroup_id() : 0;
}

/* Of a clock the kernel goes on to tell the period that it was opened with. */
static __always_inline __u64 read_period(const struct bpf_perf_event_data *ctx,
					 const struct bpf_counters *c)
{
	__u64 period = ctx->sample_period;

	/* else the compiler chooses between addresses, which the verifier takes of no context */
	asm volatile("" : "+r"(period));
	return by_clock ? c->period_ns : period;
}

static __always_inline void take(struct bpf_perf_event_data *ctx, struct scratch *s,
				 struct bpf_counters *c, enum bpf_event event, __u64 now)
{
	_Bool in_kernel = PT_REGS_IP(&ctx->regs) >> 63;
	__u64 at = 0;

	c->taken++;
	s->sample.ip = PT_REGS_IP(&ctx->regs);
	s->sample.period = read_period(ctx, c);
	s->sample.hw_idx = 0;
	s->sample.n_rows = 0;
	s->sample.n_zero = s->sample.n_wrong_path = 0;
	s->sample.space = capture == ~0u ? 0 : read_space();
	if (!is_captured(&s->sample, now, &s->forgotten)) {
		if (count_tick(ctx, &rings, &s->sample, c, now))
			return;
		c->unticked++;
	}
	if (event == BPF_EVENT_CALLS)
		s->sample.flags |= BPF_SAMPLE_CALL_STACK;
	else if (some_kinds)
		s->sample.flags |= BPF_SAMPLE_GAPS;
#if BPF_SAMPLE_N_REGISTERS
	if (user_stack == BPF_USER_COPY)
		read_registers(ctx, s, in_kernel);
#endif
	if (take_kernel && in_kernel)
		at = add_stack(ctx, s, at, BPF_SAMPLE_MAX_FRAMES, 0, PERF_CONTEXT_KERNEL);
	at = add_user(ctx, s, at, in_kernel, event);
	s->sample.n_callchain = at;
	if (take_rows)
		at = forget(s, add_rows(ctx, s, forget(s, at), c));
	s->sample.n_stack = 0;
#if BPF_SAMPLE_N_REGISTERS
	if (s->sample.flags & BPF_SAMPLE_REGISTERS)
		add_copy(s, at);
#endif
	write_sample(ctx, s, at, c);
}

static __always_inline void take_if_wanted(struct bpf_perf_event_data *ctx, struct scratch *s,
					   struct bpf_counters *c, enum bpf_event event, __u64 task,
					   __u64 now)
{
	identify(&s->sample, task);
	if (is_wanted(&s->sample))
		take(ctx, s, c, event, now);
	else
		c->filtered++;
}

static __always_inline int run(struct bpf_perf_event_data *ctx, enum bpf_event event)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 task = bpf_get_current_pid_tgid(), start = bpf_ktime_get_ns();
	struct bpf_counters *c = bpf_map_lookup_elem(&counters, &cpu);
	struct scratch *s = bpf_map_lookup_elem(&scratch, &cpu);

	if (!c || !s) /* for the verifier */
		return 0;
	c->weight[event] += ctx->sample_period;
	if (by_clock)
		count_periods(c, s, start, task == 0);
	if (!by_clock || task != 0)
		take_if_wanted(ctx, s, c, event, task, start);
	c->runs++;
	c->run_ns += bpf_ktime_get_ns() - start;
	return 0;
}

SEC("perf_event")
int take_any(struct bpf_perf_event_data *ctx)
{
	return run(ctx, BPF_EVENT_ANY);
}

SEC("perf_event")
int take_calls(struct bpf_perf_event_data *ctx)
{
	return run(ctx, BPF_EVENT_CALLS);
}
