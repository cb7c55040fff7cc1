/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sampler: runs perf events and the BPF programs on every CPU, and turns what they write into
 * one stream of events in order of time. It knows nothing of windows and profiles.
 */
#pragma once

#include <stdint.h>

#include "common/record/event.h"
#include "common/util/fault.h"
#include "common/util/handover.h"
#include "common/util/macro.h"
#include "daemon/helpers/helpers.h"
#include "daemon/sampler/mapped-files.h"
#include "daemon/sampler/report.h"
#include "daemon/sampler/settings.h"
#include "daemon/sampler/ticks.h"

struct sampler;

/*
 * Probes the machine and opens all events. Tasks and mappings are followed from now on; sampling
 * begins with the first sampler_drain(). Borrows @helpers. -errno and @fault: one line with the
 * remedy.
 */
int sampler_open(struct sampler **ret, const struct sampler_settings *settings,
		 struct helpers *helpers, struct fault *fault);
struct sampler *sampler_free(struct sampler *sampler);
DEFINE_CLEANUP(struct sampler *, sampler_free);

/* Announces mapped files to @files, which outlives the sampler. Before the first drain. */
void sampler_announce_files(struct sampler *sampler, struct mapped_files *files);

/* How many samples the BPF programs took, ticks among them. */
uint64_t sampler_taken(const struct sampler *sampler);

/* How many of the files announced were new; 0 if they are not announced. Called by the thread that
 * drains. */
uint64_t sampler_new_files(const struct sampler *sampler);

/* The running kernel, borrowed; the first drain reports its mappings. */
struct running_kernel *sampler_kernel(struct sampler *sampler);

const struct sampler_probe *sampler_probe(const struct sampler *sampler);

/* Readable (epoll) when a ring fills up. Otherwise a drain every two seconds is enough. */
int sampler_fd(const struct sampler *sampler);

/*
 * Drains the rings, and hands events to @handler in order of time. Also follows CPUs that come and
 * go. The first call begins with a scan of /proc. The events are at least those that were written
 * before the previous call, or DRAIN_PATIENCE_NS before this one, see drain_run(). Ends at the
 * first negative answer of @handler, and returns it, or another -errno. Samples have source 0.
 */
typedef int (*sampler_handler)(const struct event *event, void *userdata);
int sampler_drain(struct sampler *sampler, sampler_handler handler, void *userdata);

/*
 * What was handed over is of a unit that is not wanted: counts it as filtered if it was a sample.
 * Takes no more samples of control group @cgroup; 0 if that also holds processes of other units.
 */
void sampler_refuse(struct sampler *sampler, uint64_t cgroup, bool is_sample);

/* Counts @n ticks as filtered, likewise. */
void sampler_refuse_ticks(struct sampler *sampler, uint64_t n);

/* The samples that are counted without being handed over; NULL: there are none. Borrowed. */
struct ticks *sampler_ticks(const struct sampler *sampler);

/*
 * From now on a sample is taken only after @scale times the period that was asked for; 1: as asked
 * for. CPUs that come later have it, too. Called by the thread that drains. 0 or -errno.
 */
int sampler_slow(struct sampler *sampler, uint32_t scale);

/* Ends sampling, and hands over all remaining events. */
int sampler_finish(struct sampler *sampler, sampler_handler handler, void *userdata);

/* All but the run time of the BPF programs. Any thread may call it. */
void sampler_get_counts(const struct sampler *sampler, struct sampler_counts *ret);

/* The run time of the BPF programs, and their runs: the kernel writes a file for it. Any thread may
 * call it. */
void sampler_get_run_time(const struct sampler *sampler, struct sampler_counts *ret);
