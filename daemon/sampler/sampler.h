/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sampler: perf events and the BPF program on every CPU, and what they write as one stream of
 * events in order of time.
 *
 * It knows nothing of windows and profiles. The BPF skeleton and libbpf stay behind this header.
 */
#pragma once

#include <stdint.h>

#include "common/record/event.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/binary/open-files.h"
#include "daemon/sampler/report.h"
#include "daemon/sampler/settings.h"

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
