/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF program writes, as both sides see it: a record of each sample into the ring of its CPU,
 * and counters of each CPU in a map that is read by mmap().
 */
#pragma once

#include <linux/types.h>

#define BPF_SAMPLE_MAX_FRAMES 127 /* of a stack: kernel.perf_event_max_stack as it is shipped */
#define BPF_SAMPLE_MAX_ROWS   64

#define BPF_SAMPLE_HAS_ROWS   (1u << 0) /* branch rows were read; there may be none of them */
#define BPF_SAMPLE_HAS_HW_IDX (1u << 1)

/*
 * A sample: the raw data of a PERF_RECORD_SAMPLE, whose own fields are its time and CPU. The kernel
 * puts the number of bytes that follow before raw data, in four of them: that is where this struct
 * begins, so that all else is aligned to 8 bytes. Words follow it, only as many as there are:
 * n_callchain of the call chain, leaf first, with PERF_CONTEXT_* before each of its parts; then the
 * branch rows, newest first, three words each.
 */
struct bpf_sample {
	__u32 n_bytes;
	__u32 pid, tid; /* of the first pid namespace */
	__u32 uid;
	__u64 ip;
	__u64 period;
	__u64 cgroup; /* its id in the unified hierarchy; 0: not known */
	__u64 hw_idx; /* of the newest row */
	__u16 n_callchain;
	__u16 n_rows;
	__u32 flags;
};

/* Of one CPU, which alone writes them, in a cache line of their own. All since its sampling began. */
struct bpf_counters {
	__u64 taken;     /* runs of the program, but for those in the idle task */
	__u64 idle;      /* runs in the idle task, which are no samples */
	__u64 written;   /* samples that are in the ring */
	__u64 ring_full; /* ... that found no room in it */
	__u64 no_ring; /* ... that could not be written for another reason: the CPU comes or goes */
	__s64 skipped; /* periods of the clock that passed without a run */
	__u64 due_ns;  /* up to when periods are counted; 0: not yet */
} __attribute__((aligned(64)));
