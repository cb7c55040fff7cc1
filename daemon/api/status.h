/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the daemon at one moment, and as the reply of GetStatus. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "daemon/archive/archive.h"
#include "daemon/sampler/sampler.h"
#include "daemon/store/store.h"
#include "daemon/unwind/live-unwinder.h"
#include "daemon/unwind/table-cache.h"
#include "daemon/varlink/server-settings.h"

#define STATUS_MAX_PROBLEMS 8
#define STATUS_MAX_REFUSED  16

/* One of the helpers: see daemon/helpers. */
struct status_helper {
	uint64_t connected, refused, failed;
};

/* An object that is not named, and why. */
struct status_refused {
	char path[256], reason[128];
};

struct status_naming {
	uint64_t behind; /* closed windows that wait for their names */
	/* helpers that were killed or given up, by reason */
	uint64_t parsers_died, parsers_cpu, parsers_timeout, parsers_answer, openers_timeout;
	uint64_t files_remote;    /* not opened, on a remote file system, now */
	uint64_t files_skipped;   /* attempts on a file system that hung before */
	uint64_t files_dropped;   /* too many at once */
	uint64_t files_deferred;  /* to the next window, now */
	uint64_t lines_malformed; /* of JIT maps, at each reading */
	struct status_refused refused[STATUS_MAX_REFUSED]; /* some of them */
	size_t n_refused;
};

struct status {
	uint64_t started_us; /* CLOCK_REALTIME */
	bool running;        /* something is sampled */
	struct sampler_probe probe;
	char why_not[512];  /* nothing is sampled */
	uint64_t frequency; /* 0: a period was set instead */
	double hot;         /* of a process's samples, that make a function hot; 0: all are */
	double capture;     /* the share of the samples that is captured with its stacks */
	double scale;       /* samples due for each one taken, on average; 1: as configured */
	bool throttled;     /* the kernel throttled of late, which lowers the rate */
	double share;       /* of each CPU, that sampling takes of late; 0: not known */
	double hour_share, hour_taken; /* of the last hour, see struct last_hour_average */
	double budget;                 /* that it may take; 0: no limit */
	struct sampler_counts samples;
	struct live_unwinder_counts stacks;
	struct short_stacks_object short_stacks[SHORT_STACKS_SHOWN];
	size_t n_short;
	struct kept_files_counts tables, symbols;
	struct archive_status archive;
	struct store_status store;
	uint64_t window_us;
	struct server_counts server;
	struct status_helper opener, parser, events;
	struct status_naming naming;
	size_t unnamed_objects;
	char problems[STATUS_MAX_PROBLEMS][512];
	size_t n_problems;
};

/* Adds a problem, unless @text is empty or there is no room. */
void status_add_problem(struct status *status, const char *text);

/* Adds an object that is not named, unless there is no room. Long texts are truncated. */
void status_add_refused(struct status *status, const char *path, const char *reason);

/* A new object, or NULL for want of memory. Reads what this process used so far, too. */
json_t *status_json(const struct status *status, bool privileged);
