/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a record says, decoded: a sample, or something that happened to a task or to the recording.
 *
 * An event borrows from the record it was decoded from (rows, call chains and names point into it)
 * and is valid as long as that is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A branch record as the kernel writes it (struct perf_branch_entry); newest first in a snapshot.
 */
struct branch_record {
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};

#define BRANCH_RECORD_MISPREDICTED    (1ull << 0)
#define BRANCH_RECORD_PREDICTED       (1ull << 1)
#define BRANCH_RECORD_ABORT           (1ull << 3)
#define BRANCH_RECORD_KIND_SHIFT      20
#define BRANCH_RECORD_KIND_MASK       (15u << BRANCH_RECORD_KIND_SHIFT)
#define BRANCH_RECORD_SPEC_MASK       (3ull << 24)
#define BRANCH_RECORD_SPEC_WRONG_PATH (1ull << 24)
#define BRANCH_RECORD_AFTER_GAP       (1ull << 63) /* older records next to it were left out */

/* The hardware reports empty records where it has no more. */
static inline bool branch_record_is_empty(const struct branch_record *row)
{
	return row->from == 0 || row->to == 0;
}

/* Whether it was executed speculatively, on a path not taken in the end. */
static inline bool branch_record_is_wrong_path(const struct branch_record *row)
{
	return (row->flags & BRANCH_RECORD_SPEC_MASK) == BRANCH_RECORD_SPEC_WRONG_PATH;
}

static inline bool branch_record_is_sound(const struct branch_record *row)
{
	return !branch_record_is_empty(row) && !branch_record_is_wrong_path(row);
}

static inline bool branch_record_equal(const struct branch_record *a, const struct branch_record *b)
{
	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

/* Cycles since the record before; 0 where the hardware does not say. */
static inline uint64_t branch_record_flags_cycles(uint64_t flags)
{
	return flags >> 4 & 0xffff;
}

static inline uint64_t branch_record_cycles(const struct branch_record *row)
{
	return branch_record_flags_cycles(row->flags);
}

/* Addresses of the upper half are the kernel's on all machines we know. */
static inline bool address_is_kernel(uint64_t address)
{
	return address >> 63;
}

/* What kind of branch it is, enum branch_kind; 0 where the hardware does not say. */
static inline uint32_t branch_record_kind(uint64_t flags)
{
	return ((uint32_t)flags & BRANCH_RECORD_KIND_MASK) >> BRANCH_RECORD_KIND_SHIFT;
}

enum cpu_mode {
	CPU_MODE_UNKNOWN,
	CPU_MODE_KERNEL,
	CPU_MODE_USER,
	CPU_MODE_HYPERVISOR,
	CPU_MODE_GUEST_KERNEL,
	CPU_MODE_GUEST_USER,
};

/* How far the user's part of a call chain was unwound from the registers and the stack. */
enum sample_unwound {
	SAMPLE_NOT_UNWOUND, /* it is the kernel's, or there is none */
	SAMPLE_UNWOUND_WHOLE,
	SAMPLE_UNWOUND_SHORT, /* of the rest of the stack nothing is known */
	SAMPLE_UNWOUND_COPY,  /* the next return address lies behind a whole copy of stack bytes */
	SAMPLE_UNWOUND_PART,  /* it lies in them from @n_unwound on, or nowhere */
	SAMPLE_UNWOUND_LATE,  /* samples of the task that were taken later came before this one */
};

struct sample {
	uint64_t ip;
	uint64_t period; /* 1 where the record does not say */
	enum cpu_mode mode;
	bool has_rows; /* a branch stack was asked for; it may still be empty */
	bool has_hw_idx;
	bool call_stack; /* its branch records are calls that have not returned */
	bool rows_stay;  /* in memory, as long as the recording is open */
	bool gaps;       /* branches of kinds that are not recorded may lie between two records */
	uint8_t n_zero, n_wrong_path; /* records that the writer of the sample has left out */
	uint32_t n_rows;
	uint32_t n_callchain;
	uint64_t hw_idx; /* of the newest record */
	const struct branch_record *rows;
	const uint64_t *callchain; /* leaf first, with the kernel's PERF_CONTEXT_* markers */
	uint64_t cgroup;           /* the id of its task's; 0 where unknown */
	uint32_t uid;              /* effective, of its task; UINT32_MAX where unknown */
	bool restricted;           /* that user may not look into the process; with a known uid */
	bool no_memory;            /* ... or it is ending, so that this is not known */
	bool cold;                 /* fewer like it were captured: see SPREAD_COLD_WEIGHT */
	bool introduces;           /* no sample: it says whose the ticks of @space are */
	uint32_t space;            /* which address space of the process; 0: not known */
	/*
	 * The registers of the user's code when it was interrupted or entered the kernel, and the
	 * bytes from its stack pointer on: what its call stack is unwound from. See
	 * user-registers.h.
	 */
	const uint64_t *user_registers; /* in the order of their bits in the mask; NULL: none */
	uint64_t user_registers_mask;   /* enum perf_event_x86_regs, perf_event_arm_regs */
	bool user_is_32_bit;            /* of a program of 32 bits */
	const uint8_t *user_stack;      /* NULL: none */
	uint32_t n_user_stack;
	enum sample_unwound unwound;
	uint32_t n_unwound; /* of the stack's bytes, those of the frames in the call chain */
	uint32_t n_raw;
	const void *raw; /* bytes that whoever wrote the sample added, 4 behind a multiple of 8 */
};

struct mapping_event {
	uint64_t address, n_bytes, file_offset;
	const char *path;
	uint8_t build_id[20];
	uint8_t n_build_id; /* 0: not given, but major, minor, inode may be */
	uint32_t major, minor;
	uint64_t inode, generation; /* the latter counts the files that had this inode */
	bool executable; /* older MMAP records are of executable mappings unless they say "data" */
	bool kernel;
};

struct comm_event {
	const char *comm;
	bool exec;
};

struct fork_event {
	int32_t parent_pid, parent_tid;
	bool exec; /* it has run exec since: its mappings are not its parent's */
};

struct lost_event {
	uint64_t n;
	bool samples; /* of samples alone (LOST_SAMPLES); else of records of any kind */
};

struct ksymbol_event {
	uint64_t address;
	uint32_t n_bytes;
	bool unregister;
	const char *name;
};

/* A build-id that was learnt when the recording was closed. */
struct build_id_event {
	const char *path;
	uint8_t build_id[20];
	uint8_t n_build_id;
	bool kernel;
};

enum event_kind {
	EVENT_OTHER,   /* nothing we count */
	EVENT_UNKNOWN, /* a record of a kind, or a sample of an event, that we do not know */
	EVENT_SAMPLE,
	EVENT_MAPPING,
	EVENT_COMM,
	EVENT_FORK,
	EVENT_EXIT,
	EVENT_LOST,
	EVENT_THROTTLE,
	EVENT_UNTHROTTLE,
	EVENT_KSYMBOL,
	EVENT_BUILD_ID,
	/* Not from the kernel: the events between these two are a scan of /proc. */
	EVENT_SCAN_BEGINS,
	EVENT_SCAN_ENDS,
};

struct event {
	enum event_kind kind;
	uint32_t source; /* index of the perf event it belongs to */
	uint32_t cpu;    /* UINT32_MAX where unknown */
	int32_t pid, tid;
	uint64_t time_ns; /* 0 where unknown */
	union {
		struct sample sample;
		struct mapping_event mapping;
		struct comm_event comm;
		struct fork_event fork;
		struct lost_event lost;
		struct ksymbol_event ksymbol;
		struct build_id_event build_id;
	};
};

/* A process or thread; -1 where the kernel does not know it, or the number is impossible. */
static inline int32_t event_task_id(uint32_t id)
{
	return id <= INT32_MAX ? (int32_t)id : -1;
}
