/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sampler: perf events and the BPF program on every CPU, and what they write as one stream of
 * events in order of time.
 *
 * It knows nothing of windows and profiles. The BPF skeleton and libbpf stay behind this header.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/binary/open-files.h"
#include "daemon/sampler/branch-filter.h"
#include "daemon/sampler/task-filter.h"

enum sampler_mode {
	SAMPLER_AUTO, /* the best that the machine has */
	SAMPLER_SOFTWARE,
	SAMPLER_STACK,
	SAMPLER_BRANCH,
	SAMPLER_STACK_BRANCH,
	N_SAMPLER_MODES,
};

const char *sampler_mode_name(enum sampler_mode mode);
/* The mode of that name, or -EINVAL. */
int sampler_mode_parse(const char *name);

enum sampler_event {
	SAMPLER_CYCLES,
	SAMPLER_BRANCHES, /* taken ones, as they retire */
};

struct sampler_settings {
	enum sampler_mode mode;
	enum sampler_event event; /* of the hardware */
	uint64_t frequency; /* samples a second and CPU, of a PMU's while it is at full speed */
	uint64_t period;    /* of the hardware's event, instead of a frequency; 0: by frequency */
	uint64_t branch_filter; /* PERF_SAMPLE_BRANCH_*, see branch-filter.h; 0: any branch */
	uint32_t ring_pages;    /* of each CPU; a power of two; 0: the default */
	bool kernel;            /* the kernel is sampled, too */
	struct task_filter only;
};

/* What was found on this machine; texts are one line each, "" where there is nothing to say. */
struct sampler_probe {
	enum sampler_mode mode;
	char event[64];
	uint64_t period;          /* of the event; 0: samples are taken by time */
	char why_not_better[256]; /* why no better mode, and what would help */
	char records[32];         /* the kind of the branch records, where they are read */
	uint32_t depth;           /* ... and how many rows the hardware keeps */
	char filter[BRANCH_FILTER_TEXT_MAX]; /* ... of which branches */
	char note[256];                      /* what they lack */
	bool since_switch; /* call stacks go back to where the task was switched to only */
	uint32_t doubled;  /* see struct builder_settings */
};

/*
 * Since the start. Every sample is somewhere, and exactly so when sampling has been stopped:
 *   taken = written + ring_full + no_ring;  written = handed over + undecodable
 */
struct sampler_counts {
	uint64_t taken; /* runs of the BPF program, but by the clock in the idle task, and but for:
			 */
	uint64_t filtered;  /* those in tasks that are not wanted */
	uint64_t written;   /* samples that went into a ring */
	uint64_t ring_full; /* ... that found it full */
	uint64_t no_ring;   /* ... that could not be written, for the CPU was coming or going */
	uint64_t undecodable;
	/*
	 * Samples that were due on a busy CPU and not taken: the kernel passed the BPF program
	 * over, held interrupts off or throttled the event, or a hypervisor had the CPU.
	 */
	uint64_t skipped;
	uint64_t throttled;    /* times the kernel throttled an event */
	uint64_t lost_records; /* of tasks and mappings: /proc is looked through again after it */
	uint64_t out_of_order; /* records that came too late for their place in time */
	uint64_t snapshots, snapshots_empty, snapshots_full; /* samples with branch rows read */
	uint64_t rows;        /* in all of these, but such in which nothing was recorded */
	uint64_t rows_kernel; /* of them, the kernel's that were left out */
	uint64_t rowless;     /* samples for which the kernel had no branch stack */
	uint64_t enabled_ns, running_ns; /* of a PMU's events: to count for so long, and did */
	uint64_t phases_missed;    /* phases of a CPU that had to be of branches, not call stacks */
	uint64_t bpf_ns, bpf_runs; /* run time of the program, where kernel.bpf_stats_enabled */
	uint32_t n_cpus;           /* that are sampled */
};

struct sampler;

/*
 * Probes, and opens all there is to open; tasks and mappings are followed from now on, and sampling
 * begins with the first sampler_drain(). -errno and @fault: one line with the remedy.
 */
int sampler_open(struct sampler **ret, const struct sampler_settings *settings,
		 struct fault *fault);
struct sampler *sampler_free(struct sampler *sampler);
DEFINE_CLEANUP(struct sampler *, sampler_free);

/* Before the first drain: files of programs are kept in @open_files, which outlives the sampler. */
void sampler_keep_open(struct sampler *sampler, struct open_files *open_files);

const struct sampler_probe *sampler_probe(const struct sampler *sampler);

/* Readable (epoll) when a ring fills up; otherwise it is enough to drain a few times a second. */
int sampler_fd(const struct sampler *sampler);

/*
 * Hands over what the rings hold to @handler in order of time; CPUs that came or went are followed.
 * The first call tells first what runs already. What comes out was written before the call before:
 * records wait until those of all CPUs are at hand. Returns at the first negative answer, which it
 * passes on, as it does other errors. Samples have source 0.
 */
typedef int (*sampler_handler)(const struct event *event, void *userdata);
int sampler_drain(struct sampler *sampler, sampler_handler handler, void *userdata);

/*
 * The sample just handed over is not wanted, for the unit it is of: it is counted as filtered.
 * Others of control group @cgroup are not taken any more, unless it is 0: where not all in it are
 * of that unit.
 */
void sampler_refuse(struct sampler *sampler, uint64_t cgroup);

/* Ends sampling, and hands over all that is left. */
int sampler_finish(struct sampler *sampler, sampler_handler handler, void *userdata);

/* Any thread may ask. */
void sampler_get_counts(const struct sampler *sampler, struct sampler_counts *ret);
