// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ticks: samples that are counted by process and address, in a hash table of their CPU that branchd
 * reads at the end of each window, instead of being captured with their stacks. Included by the BPF
 * programs alone.
 */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/sample.h"
#include "bpf/task.h"

/* How many of 2^32 samples are captured in full; all bits: all of them. */
const volatile __u32 capture = ~0u;
/* ... where it is hot; elsewhere fewer. There are ticks, then. */
const volatile _Bool by_heat = 0;

/* One entry per CPU, if there are ticks: the loader sets the number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_ticks);
} ticks SEC(".maps");

/*
 * The address space of the current task, which an exec replaces: not as an address, but as a number
 * that differs between processes and programs. 0: a task of the kernel, or one that is ending.
 */
static __always_inline __u32 read_space(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();

	return (__u64)BPF_CORE_READ(task, mm) >> 6;
}

/* The entry of that key in the table's half, or a free one (n is 0) for it; NULL: there is no room
 * near its place. */
static __always_inline struct bpf_tick *find_tick(struct bpf_ticks *t, __u64 half, __u64 ip,
						  const struct bpf_sample *s)
{
	__u64 process = (__u64)s->pid << 32 | s->space;
	__u64 hash = (ip ^ process * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull >> 32;

	for (int i = 0; i < BPF_TICK_PROBES; i++) {
		__u64 at = (hash + i) & (BPF_MAX_TICKS - 1);
		struct bpf_tick *tick;

		at |= half * BPF_MAX_TICKS;
		asm volatile("%0 &= %1" : "+r"(at) : "i"(2 * BPF_MAX_TICKS - 1));
		tick = &t->ticks[at];
		if (tick->n == 0 ||
		    (tick->ip == ip && tick->pid == s->pid && tick->space == s->space))
			return tick;
	}
	return NULL;
}

static __always_inline void set_tick(struct bpf_ticks *t, __u64 half, struct bpf_tick *tick,
				     __u64 ip, const struct bpf_sample *s)
{
	tick->ip = ip;
	tick->pid = s->pid;
	tick->space = s->space;
	tick->n = 1;
	tick->weight = s->period;
	t->n_used[half & 1]++;
}

/* The half that is in use at @now, and its table; NULL: there are no ticks. */
static __always_inline struct bpf_ticks *find_ticks(__u64 now, __u64 *half)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct bpf_ticks *t = bpf_map_lookup_elem(&ticks, &cpu);
	__u64 turn = t ? *(volatile __u64 *)&t->turn : 0;

	*half = (now >= turn ? turn : ~turn) & 1;
	return t;
}

static __always_inline struct bpf_hot_range *hot_range(struct bpf_ticks *t, __u64 half, __u64 i)
{
	__u64 at = i | half * BPF_MAX_HOT;

	asm volatile("%0 &= %1" : "+r"(at) : "i"(2 * BPF_MAX_HOT - 1));
	return &t->ranges[at];
}

static __always_inline _Bool is_cold_user(const struct bpf_ticks *t, __u64 half, __u32 uid)
{
#pragma unroll
	for (int i = 0; i < BPF_MAX_COLD_USERS; i++) {
		__u64 at = i + half * BPF_MAX_COLD_USERS;

		asm volatile("%0 &= %1" : "+r"(at) : "i"(2 * BPF_MAX_COLD_USERS - 1));
		if (t->cold_users[at] == uid + 1)
			return 1;
	}
	return 0;
}

/* Binary search. Through @cell the verifier forgets which way it went. */
static __always_inline _Bool is_hot(struct bpf_ticks *t, const struct bpf_sample *s,
				    volatile __u64 *cell)
{
	__u64 hot = *(volatile __u64 *)&t->hot, half = hot & 1, n = hot >> 1, n_before = 0;
	__u32 pid = s->ip >> 63 ? 0 : s->pid;
	const struct bpf_hot_range *range;

#pragma unroll
	for (__u64 step = BPF_MAX_HOT / 2; step > 0; step >>= 1) {
		range = hot_range(t, half, n_before + step - 1);
		if (n_before + step <= n &&
		    (range->pid < pid || (range->pid == pid && range->start <= s->ip)))
			n_before += step;
		*cell = n_before;
		n_before = *cell;
	}
	if (n_before > 0) {
		range = hot_range(t, half, n_before - 1);
		if (range->pid == pid)
			return s->ip < range->end;
	}
	return pid == 0 || !is_cold_user(t, half, s->uid);
}

/* Whether the sample is one of those that are captured in full: chosen at random, so that no load
 * is in step with it. */
static __always_inline _Bool is_captured(struct bpf_sample *s, __u64 now, volatile __u64 *cell)
{
	struct bpf_ticks *t;
	__u64 half;

	if (capture == ~0u)
		return 1;
	t = by_heat ? find_ticks(now, &half) : NULL;
	if (!t || is_hot(t, s, cell))
		return bpf_get_prandom_u32() < capture;
	if (bpf_get_prandom_u32() >= capture / BPF_COLD_ONE_IN)
		return 0;
	s->flags |= BPF_SAMPLE_COLD;
	return 1;
}

/* Writes a record that says whose the ticks of this process are. Whether it fitted into the ring.
 */
static __always_inline _Bool introduce(void *ctx, void *rings, struct bpf_sample *s)
{
	const __u64 n_bytes = sizeof(*s) - sizeof(s->n_bytes);
	__u16 flags = s->flags;
	long r;

	s->flags |= BPF_SAMPLE_INTRODUCES;
	s->n_callchain = 0;
	s->n_stack = 0;
	r = bpf_perf_event_output(ctx, rings, BPF_F_CURRENT_CPU, (void *)&s->pid, n_bytes);
	s->flags = flags;
	return r == 0;
}

/* Counts the sample as a tick; 0: there is no room for it. */
static __always_inline _Bool count_tick(void *ctx, void *rings, struct bpf_sample *s,
					struct bpf_counters *c, __u64 now)
{
	struct bpf_tick *process, *tick;
	struct bpf_ticks *t;
	__u64 half;

	t = find_ticks(now, &half);
	process = t ? find_tick(t, half, 0, s) : NULL;
	if (!process || s->ip == 0)
		return 0;
	if (process->n == 0) {
		if (!introduce(ctx, rings, s))
			return 0;
		set_tick(t, half, process, 0, s);
	}
	tick = find_tick(t, half, s->ip, s);
	if (!tick)
		return 0;
	if (tick->n == 0) {
		set_tick(t, half, tick, s->ip, s);
	} else {
		tick->n++;
		tick->weight += s->period;
	}
	c->ticked++;
	return 1;
}
