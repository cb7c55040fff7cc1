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

struct sampler_settings {
	enum sampler_mode mode;
	uint64_t frequency;   /* samples a second and CPU */
	uint32_t ring_pages;  /* of each CPU; a power of two; 0: the default */
	bool kernel;          /* kernel frames, too */
};

/* What was found on this machine; texts are one line each, "" where there is nothing to say. */
struct sampler_probe {
	enum sampler_mode mode;
	char event[64];
	char why_not_better[256]; /* why no better mode, and what would help */
	uint32_t depth;           /* branch rows */
};

/* Since the start. The kernel took: taken + skipped + throttled away (which it does not count). */
struct sampler_counts {
	uint64_t taken;      /* runs of the BPF program */
	uint64_t written;    /* samples that went into a ring */
	uint64_t ring_full;  /* ... that found it full */
	uint64_t skipped;    /* overflows whose BPF program the kernel did not run */
	uint64_t throttled;  /* THROTTLE records */
	uint64_t lost_records; /* side-band records lost: LOST */
	uint64_t undecodable;
	uint64_t bpf_ns, bpf_runs; /* run time of the program, where kernel.bpf_stats_enabled */
	uint32_t n_cpus;
};

struct sampler;

/*
 * Probes, opens side-band, and reads /proc of what already runs (told as events first, by
 * sampler_drain()); sampling is on when this returns. -errno and @fault: one line with the remedy.
 */
int sampler_open(struct sampler **ret, const struct sampler_settings *settings,
		 struct fault *fault);
struct sampler *sampler_free(struct sampler *sampler);
DEFINE_CLEANUP(struct sampler *, sampler_free);

const struct sampler_probe *sampler_probe(const struct sampler *sampler);

/* Readable (epoll) when there is something to drain. */
int sampler_fd(const struct sampler *sampler);

/*
 * Hands all that the rings hold to @handler in order of time; CPUs that came or went are followed. Returns at
 * the first negative answer, which it passes on. Samples have source 0.
 */
typedef int (*sampler_handler)(const struct event *event, void *userdata);
int sampler_drain(struct sampler *sampler, sampler_handler handler, void *userdata);

/* Any thread may ask. */
void sampler_get_counts(const struct sampler *sampler, struct sampler_counts *ret);
