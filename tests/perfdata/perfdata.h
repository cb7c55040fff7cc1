/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfdata: writes perf.data files, for tests.
 *
 * What goes in is what the kernel would have put into its ring: records with their fields already
 * known. What comes out is a file (or, with PERFDATA_PIPE, a stream of the kind `perf record -o -`
 * writes) that perf itself reads. Fields are laid out as perf_event_open(2) says, by the attr's
 * sample_type, branch_sample_type and sample_id_all; the header's sections as
 * tools/perf/Documentation/perf.data-file-format.txt of the kernel says.
 *
 * Errors stick: the functions that add a record return nothing, perfdata_finish() returns the first
 * error there was. A file that was not finished has no valid header.
 *
 * Limits: samples carry no READ groups and no registers of the kernel (such attrs are refused); the
 * byte order is the machine's; no compression.
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata;

enum perfdata_flags {
	PERFDATA_PIPE = 1 << 0, /* the form for pipes: no seeking, attrs and features are records */
};

/* Numbers of the header's feature sections, as perf has them (tools/perf/util/header.h). */
enum perfdata_feature {
	PERFDATA_BUILD_ID = 2,
	PERFDATA_HOSTNAME = 3,
	PERFDATA_OSRELEASE = 4,
	PERFDATA_VERSION = 5,
	PERFDATA_ARCH = 6,
	PERFDATA_NRCPUS = 7,
	PERFDATA_CPUDESC = 8,
	PERFDATA_CPUID = 9,
	PERFDATA_TOTAL_MEM = 10,
	PERFDATA_CMDLINE = 11,
	PERFDATA_EVENT_DESC = 12,
	PERFDATA_BRANCH_STACK = 15,
	PERFDATA_SAMPLE_TIME = 21,
	PERFDATA_CPU_PMU_CAPS = 28,
	PERFDATA_PMU_CAPS = 31,
	PERFDATA_LAST_FEATURE = 32,
};

struct perfdata_event {
	struct perf_event_attr attr; /* .size is filled in */
	const char *name;            /* for EVENT_DESC; borrowed until perfdata_new() returns */
	const uint64_t *ids;         /* may be NULL if n_ids is 0; borrowed likewise */
	size_t n_ids;
};

/* Who and when: the sample_id trailer of records that are not samples. Which fields are written is
 * the first attr's business. */
struct perfdata_id {
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t id;
	uint64_t stream_id;
	uint32_t cpu;
};

struct perfdata_sample {
	struct perfdata_id id;
	uint16_t misc;    /* PERF_RECORD_MISC_USER and the like */
	unsigned n_event; /* which event's attr lays the sample out */
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	uint64_t value; /* PERF_SAMPLE_READ, read_format 0 */
	const uint64_t *callchain;
	size_t n_callchain;
	const void *raw;
	uint32_t raw_size;
	const struct perf_branch_entry *rows; /* newest first */
	size_t n_rows;
	uint64_t hw_idx; /* written only if branch_sample_type has HW_INDEX */
	/* As many as the attr's sample_regs_user has bits, in their order; NULL: none. */
	const uint64_t *user_registers;
	uint64_t user_registers_abi; /* PERF_SAMPLE_REGS_ABI_*, of those */
	const void *user_stack;
	uint64_t user_stack_bytes; /* a multiple of 8 */
	uint64_t user_stack_read;  /* how many of them the kernel could read */
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
};

struct perfdata_mmap {
	uint32_t pid;
	uint32_t tid;
	uint64_t start;
	uint64_t length;
	uint64_t pgoff;
	uint32_t maj; /* the inode form, used if build_id is NULL */
	uint32_t min;
	uint64_t ino;
	uint64_t ino_generation;
	const uint8_t *build_id;
	size_t build_id_size; /* at most 20 */
	uint32_t prot;
	uint32_t flags;
	uint16_t misc; /* PERF_RECORD_MISC_USER; the build-id bit is added */
	const char *filename;
};

/* Negative errno: the file cannot be made, or -EOPNOTSUPP for an attr whose samples this cannot
 * write. "-" is stdout. */
int perfdata_new(struct perfdata **ret, const char *path, unsigned flags,
		 const struct perfdata_event *events, size_t n_events);
/* Writes what is left: buffers, features, header. Negative errno if anything since perfdata_new()
 * failed. */
int perfdata_finish(struct perfdata *p);
struct perfdata *perfdata_free(struct perfdata *p);

void perfdata_add_sample(struct perfdata *p, const struct perfdata_sample *s);
void perfdata_add_comm(struct perfdata *p, const struct perfdata_id *id, uint32_t pid, uint32_t tid,
		       const char *comm, bool exec);
void perfdata_add_mmap2(struct perfdata *p, const struct perfdata_id *id,
			const struct perfdata_mmap *m);
/* PERF_RECORD_MMAP, as kernels before 3.16 and perf's kernel maps have it; inode and build-id are
 * not used. */
void perfdata_add_mmap(struct perfdata *p, const struct perfdata_id *id,
		       const struct perfdata_mmap *m);
void perfdata_add_fork(struct perfdata *p, const struct perfdata_id *id, uint32_t pid,
		       uint32_t ppid, uint32_t tid, uint32_t ptid);
void perfdata_add_exit(struct perfdata *p, const struct perfdata_id *id, uint32_t pid,
		       uint32_t ppid, uint32_t tid, uint32_t ptid);
void perfdata_add_lost(struct perfdata *p, const struct perfdata_id *id, uint64_t event_id,
		       uint64_t n_lost);
void perfdata_add_lost_samples(struct perfdata *p, const struct perfdata_id *id, uint64_t n_lost);
void perfdata_add_throttle(struct perfdata *p, const struct perfdata_id *id, bool throttled,
			   uint64_t event_id);
void perfdata_add_finished_round(struct perfdata *p);
/* Any record, as it is: header.size is what `record` holds. For what has no function of its own,
 * and for broken ones. */
void perfdata_add_raw(struct perfdata *p, const void *record, size_t size);
/* Bytes of records so far. */
uint64_t perfdata_size_bytes(const struct perfdata *p);

/*
 * Header features. In a file they may be set at any time, and setting one again replaces it; in a
 * pipe before the first record only (a build-id excepted), later ones are ignored. EVENT_DESC, and
 * BRANCH_STACK where an event has branch stacks other than call stacks, are set by perfdata_new().
 */
void perfdata_set_string(struct perfdata *p, enum perfdata_feature feature, const char *value);
void perfdata_set_nrcpus(struct perfdata *p, uint32_t n_available, uint32_t n_online);
void perfdata_set_cmdline(struct perfdata *p, int argc, char *const argv[]);
void perfdata_set_sample_time(struct perfdata *p, uint64_t first, uint64_t last);
/* `caps` is n_caps pairs of name and value, e.g. {"branches", "32"}. CPU_PMU_CAPS is what perf
 * reads the LBR's depth from. */
void perfdata_set_cpu_pmu_caps(struct perfdata *p, const char *const caps[][2], size_t n_caps);
void perfdata_set_pmu_caps(struct perfdata *p, const char *pmu, const char *const caps[][2],
			   size_t n_caps);
void perfdata_set_raw(struct perfdata *p, enum perfdata_feature feature, const void *data,
		      size_t size);
/* Adds to the BUILD_ID section. misc distinguishes user from kernel objects; pid is -1 for any
 * process of this machine. */
void perfdata_add_build_id(struct perfdata *p, uint16_t misc, int32_t pid, const uint8_t *build_id,
			   size_t size, const char *filename);
