/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the sampler reports: the way of sampling that the probe found, and its counters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/sampler/branch-filter.h"
#include "daemon/sampler/settings.h"

/* The way of sampling on this machine. Texts are one line each, "" if there is nothing to say. */
struct sampler_probe {
	enum sampler_mode mode;
	char event[EVENT_SPEC_MAX];
	uint64_t period;          /* of the event; 0: samples are taken by time */
	bool is_counted;          /* the period was asked for, or the event has no frequency */
	char why_not_better[256]; /* why no better mode, and what would help */
	char records[32];         /* the kind of the branch records, if they are read */
	uint32_t depth;           /* branch records that the hardware keeps; 0: not known */
	char filter[BRANCH_FILTER_TEXT_MAX]; /* which branches are recorded */
	char note[256];                      /* what the branch records lack */
	bool since_switch;        /* call stacks reach back only to the last context switch */
	uint32_t duplicate_depth; /* see duplicate_record_depth() */
};

/*
 * Counters since the start. They account for every sample; the sums are exact once sampling has
 * stopped:
 *   taken = written + ring_full + no_ring + ticked;  written = handed over + undecodable
 */
struct sampler_counts {
	/*
	 * Runs of the BPF program; without those that the task filter rejects, and without those of
	 * a clock in the idle task.
	 */
	uint64_t taken;
	uint64_t filtered;    /* runs that the task filter rejected */
	uint64_t written;     /* samples written into a ring */
	uint64_t ring_full;   /* samples lost because their ring was full */
	uint64_t no_ring;     /* samples lost because their CPU was coming or going */
	uint64_t ticked;      /* samples counted as ticks, without their stacks: see ticks.h */
	uint64_t unticked;    /* samples captured in full for want of room for another tick */
	uint64_t undecodable; /* samples written, but not understood */
	/*
	 * Samples that were due on a busy CPU and not taken: the kernel skipped the BPF program,
	 * held interrupts off or throttled the event, or a hypervisor had the CPU.
	 */
	uint64_t skipped;
	uint64_t throttled;       /* times the kernel throttled an event */
	uint64_t lost_records;    /* records of tasks and mappings; a scan of /proc follows */
	uint64_t out_of_order;    /* records that came too late for their place in time */
	uint64_t snapshots;       /* samples whose branch records were read */
	uint64_t snapshots_empty; /* snapshots without a branch record */
	uint64_t snapshots_full;  /* snapshots with as many as the hardware keeps */
	uint64_t rows;            /* branch records in all snapshots, without empty ones */
	uint64_t rows_kernel;     /* branch records of the kernel, left out of the samples */
	uint64_t no_branch_stack; /* samples for which the kernel had no branch stack */
	uint64_t enabled_ns;      /* how long a PMU's events should have counted */
	uint64_t running_ns;      /* how long they did */
	uint64_t openers_hung;    /* in the scan of /proc */
	uint64_t phases_missed;   /* phases of call stacks in which a CPU stayed with branches */
	uint64_t run_ns;          /* run time of the BPF programs by their own clock, always */
	uint64_t bpf_ns;          /* run time of the BPF programs, see program_get_run_time() */
	uint64_t bpf_runs;        /* their runs */
	uint32_t n_cpus;          /* CPUs sampled */
};
