/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages between branchd and branchd-events, which opens for it what takes privileges: perf
 * events, the BPF programs, and the kernel's addresses. branchd talks to strangers: so each request
 * is checked, and all that can be had are events of whole CPUs. Their samples hold no contents of
 * memory but of the stacks of user code, if branchd asks for BPF_USER_COPY.
 *
 * A request has a type and one of the structs below; its answer has type 0 and what was opened, or
 * an errno as the type. The process remembers nothing between requests: descriptors that a request
 * needs travel with it. So another process can answer the next request.
 */
#pragma once

#include <stdint.h>

#include <linux/perf_event.h>

#include "bpf/sample.h"

#define EVENTS_MAX_BYTES 4096 /* of a message */

enum events_request {
	/* Answer: struct events_machine. */
	EVENTS_DESCRIBE = 1,
	/*
	 * struct events_open. Answer: the event. An event of the output of BPF programs becomes the
	 * ring of its CPU: its request carries the map of rings.
	 */
	EVENTS_OPEN,
	/* struct events_program. Answer: the descriptors of enum events_loaded, or a text why not.
	 */
	EVENTS_LOAD,
	/* struct events_refuse, with the map of refused control groups. */
	EVENTS_REFUSE,
	/* Answer: the open file. */
	EVENTS_OPEN_KALLSYMS,
	EVENTS_OPEN_MODULES,
	EVENTS_REQUESTS,
};

struct events_machine {
	uint32_t n_cpus;            /* possible: all numbers of CPUs are below it */
	uint32_t keeps_call_stacks; /* the kernel saves branch records with the task */
};

struct events_open {
	struct perf_event_attr attr;
	uint32_t cpu;
	uint32_t unused; /* 0: no byte of a request is undefined */
};

/* What the BPF programs shall take. */
struct events_program {
	uint32_t n_pids, n_uids; /* 0: all */
	uint32_t pids[BPF_MAX_WANTED], uids[BPF_MAX_WANTED];
	uint32_t depth;     /* branch records that the hardware keeps; 0: not known */
	uint32_t capture;   /* of 2^32 samples, with their stacks; UINT32_MAX: all */
	uint8_t kernel;     /* stacks */
	uint8_t user;       /* enum bpf_user_stack */
	uint8_t rows;       /* branch records */
	uint8_t hw_idx;     /* ... whose newest has a known index */
	uint8_t some_kinds; /* ... of some kinds only */
	uint8_t leave_wrong_path, leave_kernel;
	uint8_t some_units; /* control groups may be refused later */
	uint8_t by_clock;   /* it also ticks in the idle task: counters.period_ns says how often */
	uint8_t by_heat;    /* @capture is of samples that are hot; of others fewer */
	uint8_t unused[2];  /* 0 */
};

enum events_loaded {
	EVENTS_COUNTERS, /* a map to be mmap()ed: struct bpf_counters per CPU */
	EVENTS_RINGS,    /* a map; rings vanish from it when its last descriptor is closed */
	EVENTS_REFUSED,  /* a map */
	EVENTS_TICKS, /* a map to be mmap()ed: struct bpf_ticks per CPU, if not all is captured */
	EVENTS_PROGRAMS, /* one descriptor per enum bpf_event */
	EVENTS_LOADED = EVENTS_PROGRAMS + BPF_N_EVENTS,
};

struct events_refuse {
	uint64_t cgroup;
};
