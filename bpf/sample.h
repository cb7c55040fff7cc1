/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The output of the BPF programs, for both sides: a record of each sample in the ring of its CPU,
 * and the counters of each CPU in a map that the daemon mmap()s.
 */
#pragma once

#include <linux/types.h>

#define BPF_SAMPLE_MAX_FRAMES 127 /* of a stack: the default of kernel.perf_event_max_stack */
#define BPF_SAMPLE_MAX_ROWS   64
#define BPF_SAMPLE_MAX_STACK  0x8000 /* bytes of the user's stack */

#define BPF_SAMPLE_HAS_ROWS   (1u << 0) /* branch records were read; there may be 0 of them */
#define BPF_SAMPLE_HAS_HW_IDX (1u << 1)
#define BPF_SAMPLE_CALL_STACK (1u << 2) /* the branch records are of the call-stack mode */
#define BPF_SAMPLE_GAPS       (1u << 3) /* ... or of some kinds of branches only */
#define BPF_SAMPLE_RESTRICTED (1u << 4) /* its user may not look into the process */
#define BPF_SAMPLE_NO_MEMORY  (1u << 5) /* ... or this is not known: the process is ending */
#define BPF_SAMPLE_REGISTERS  (1u << 6) /* of user code; the bytes of its stack follow them */
#define BPF_SAMPLE_32_BIT     (1u << 7) /* of a program of 32 bits, so without registers */
#define BPF_SAMPLE_INTRODUCES (1u << 8) /* no sample: it says whose ticks follow */
#define BPF_SAMPLE_COLD       (1u << 9) /* captured although no range that is hot holds it */

/* A bit of a branch record's flags that the kernel does not use: the next older ones were left out.
 */
#define BPF_ROW_AFTER_GAP (1ull << 63)

/* The events that sample a CPU. Each has a program of its own. */
enum bpf_event {
	BPF_EVENT_ANY,   /* its records, if it has any, are branches */
	BPF_EVENT_CALLS, /* its records are call stacks */
	BPF_N_EVENTS,
};

/* How the programs take the stack of user space. */
enum bpf_user_stack {
	BPF_USER_NONE,
	BPF_USER_FRAME_POINTERS, /* the call chain that the kernel finds */
	/* the registers and the stack's bytes, which branchd unwinds; of a program of 32 bits the
	 * call chain that the kernel finds */
	BPF_USER_COPY,
};

/*
 * The registers, in the order of the kernel's enums perf_event_x86_regs and perf_event_arm_regs:
 * those with a bit in the mask.
 */
#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#define BPF_SAMPLE_REGISTERS_MASK 0xff01ffull /* ax to ip, r8 to r15 */
#define BPF_SAMPLE_N_REGISTERS    17
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
#define BPF_SAMPLE_REGISTERS_MASK 0x1ffffffffull /* x0 to x30, sp, pc */
#define BPF_SAMPLE_N_REGISTERS    33
#else
#define BPF_SAMPLE_REGISTERS_MASK 0ull /* of this machine branchd knows no rules for unwinding */
#define BPF_SAMPLE_N_REGISTERS    0
#endif

#define BPF_MAX_WANTED  16   /* users, and processes, in a task filter */
#define BPF_MAX_REFUSED 4096 /* control groups of units that are not wanted */

/*
 * A sample: the raw data of a PERF_RECORD_SAMPLE, which has the time and the CPU. The kernel writes
 * the size of the raw data, four bytes, before them. This struct begins with that size, so that all
 * other fields are aligned to 8 bytes. Words follow it: n_callchain words of the call chain, leaf
 * first, with PERF_CONTEXT_* before each part; then n_rows branch records, newest first, three
 * words each; then the registers, if it has them, and n_stack bytes from the stack pointer on.
 * Branch records that were left out are counted.
 */
struct bpf_sample {
	__u32 n_bytes;
	__u32 pid, tid; /* in the initial pid namespace */
	__u32 uid;      /* the effective user */
	__u64 ip;
	__u64 period;
	__u64 cgroup;  /* id in the unified hierarchy; 0: not known */
	__u64 hw_idx;  /* physical index of the newest branch record */
	__u32 n_stack; /* a multiple of 8 */
	__u32 space;   /* which of the process's address spaces, if there are ticks; else 0 */
	__u16 n_callchain;
	__u16 n_rows;
	__u16 flags;
	__u8 n_zero;       /* left out: the oldest records, which are empty */
	__u8 n_wrong_path; /* left out: records of wrongly speculated paths */
};

/* The counters of one CPU since its sampling began. Only that CPU writes them. */
struct bpf_counters {
	__u64 taken;     /* runs, without filtered ones and those of a clock in the idle task */
	__u64 filtered;  /* runs that the task filter rejected */
	__u64 written;   /* samples written into the ring */
	__u64 ring_full; /* samples lost because the ring was full */
	__u64 no_ring;   /* samples lost for another reason: the CPU was coming or going */
	__u64 ticked;    /* samples counted as ticks, without being written */
	__u64 unticked;  /* samples captured because the table of ticks had no room for them */
	__s64 skipped;   /* periods of the clock without a run while the CPU was busy */
	__u64 due_ns;    /* until when periods are counted; 0: from the next run on */
	__u64 ran_ns;    /* the last tick of the clock, also in the idle task; 0: none yet */
	__u64 snapshots; /* samples whose branch records were read */
	__u64 snapshots_empty;      /* ... and that had none */
	__u64 snapshots_full;       /* ... and that had the maximum number of them */
	__u64 rows;                 /* branch records in all snapshots, without empty ones */
	__u64 rows_kernel;          /* branch records of the kernel, left out of the samples */
	__u64 no_branch_stack;      /* samples for which the kernel had no branch stack */
	__u64 weight[BPF_N_EVENTS]; /* the sum of the periods of all runs, per event */
	__u64 runs;                 /* all of them, also those of a clock in the idle task */
	__u64 run_ns;               /* how long they took, by their own clock */
	__u64 period_ns;            /* of the clock; branchd alone writes it, and due_ns with it */
} __attribute__((aligned(64)));

#define BPF_MAX_TICKS   2048 /* in each half of a CPU's table; a power of two */
#define BPF_TICK_PROBES 8    /* places in the table at which a tick may be */

/*
 * Samples of one address of a process that were not captured. The first tick of a process and
 * address space in a half is preceded by a record with BPF_SAMPLE_INTRODUCES in the ring, and an
 * entry with ip 0, which counts nothing.
 */
struct bpf_tick {
	__u64 ip;
	__u32 pid, space;
	__u64 n;      /* 0: the entry is free */
	__u64 weight; /* the sum of their periods */
};

#define BPF_MAX_HOT        512 /* ranges in each half of a table, but for one; a power of two */
#define BPF_COLD_ONE_IN    8   /* of the samples that would be captured if they were hot */
#define BPF_MAX_COLD_USERS 8   /* in each half, whose processes without any range are cold */

/*
 * Addresses of a process that are hot. An empty one at address 0 says that the process was ranked:
 * what is in none of its ranges is cold. Of a process without any range all is hot, or cold if its
 * user is one of the cold users.
 */
struct bpf_hot_range {
	__u64 start, end; /* the end is exclusive */
	__u32 pid;        /* 0: of the kernel */
	__u32 unused;
};

/*
 * The ticks of one CPU, in a map that the daemon mmap()s. Only that CPU writes into the half in
 * use; the daemon reads and empties the other one.
 */
struct bpf_ticks {
	/* A time of CLOCK_MONOTONIC, whose lowest bit is the half in use from then on; before, it
	 * is the other one. branchd alone writes it. */
	__u64 turn;
	__u64 n_used[2]; /* entries of each half */
	/* The number of ranges, twice, plus the half in use. branchd alone writes it, and fills the
	 * other half before, in the order of pid and start. */
	__u64 hot;
	__u32 cold_users[2 * BPF_MAX_COLD_USERS]; /* their uid plus 1; 0: none */
	struct bpf_hot_range ranges[2 * BPF_MAX_HOT];
	struct bpf_tick ticks[2 * BPF_MAX_TICKS];
} __attribute__((aligned(64)));
