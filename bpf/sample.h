/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF program writes, as both sides see it: a record of each sample into the ring of its
 * CPU, and counters of each CPU in a map that is read by mmap().
 */
#pragma once

#include <linux/types.h>

#define BPF_SAMPLE_MAX_FRAMES 127 /* of a stack: kernel.perf_event_max_stack as it is shipped */
#define BPF_SAMPLE_MAX_ROWS   64

#define BPF_SAMPLE_HAS_ROWS   (1u << 0) /* branch rows were read; there may be none of them */
#define BPF_SAMPLE_HAS_HW_IDX (1u << 1)
#define BPF_SAMPLE_CALL_STACK (1u << 2) /* the event has the rows of the call-stack mode */
#define BPF_SAMPLE_GAPS       (1u << 3) /* ... of some kinds of branches only */

/* In a row's flags, where the kernel has no use for it: rows were left out next to it, of older
 * ones. */
#define BPF_ROW_AFTER_GAP (1ull << 63)

/* The events that a CPU may be sampled by, each with a program of its own. */
enum bpf_event {
	BPF_EVENT_ANY,   /* whose rows, if it has any, are branches */
	BPF_EVENT_CALLS, /* whose rows are call stacks */
	BPF_N_EVENTS,
};

#define BPF_MAX_WANTED  16   /* users, and processes, that samples may be restricted to */
#define BPF_MAX_REFUSED 4096 /* control groups of other units */

/*
 * A sample: the raw data of a PERF_RECORD_SAMPLE, whose own fields are its time and CPU. The kernel
 * puts the number of bytes that follow before raw data, in four of them: that is where this struct
 * begins, so that all else is aligned to 8 bytes. Words follow it, only as many as there are:
 * n_callchain of the call chain, leaf first, with PERF_CONTEXT_* before each of its parts; then the
 * branch rows, newest first, three words each. Rows that say nothing may be left out, but they are
 * counted.
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
	__u16 flags;
	__u8 n_zero;       /* rows left out: the oldest, in which nothing was recorded */
	__u8 n_wrong_path; /* ... of a path that was speculated wrongly */
};

/* Of one CPU, which alone writes them, in a cache line of their own. All since its sampling began.
 */
struct bpf_counters {
	__u64 taken;     /* runs of the program, but for those in the idle task by a clock, and */
	__u64 filtered;  /* ... those in tasks that are not wanted */
	__u64 written;   /* samples that are in the ring */
	__u64 ring_full; /* ... that found no room in it */
	__u64 no_ring; /* ... that could not be written for another reason: the CPU comes or goes */
	__s64 skipped; /* periods of the clock that passed without a run while the CPU was busy */
	__u64 due_ns;  /* up to when periods are counted; 0: from the next run on */
	__u64 ran_ns;  /* when the clock ticked last, be it in the idle task; 0: not yet */
	__u64 snapshots;            /* of the samples, those whose branch rows were read */
	__u64 snapshots_empty;      /* ... that had none */
	__u64 snapshots_full;       /* ... that had as many as the hardware keeps */
	__u64 rows;                 /* in all snapshots, but for empty ones */
	__u64 rows_kernel;          /* rows of the kernel, left out of the samples */
	__u64 no_branch_stack;      /* samples for which the kernel had no branch stack at all */
	__u64 weight[BPF_N_EVENTS]; /* the periods of all runs of each event, added up */
} __attribute__((aligned(64)));
