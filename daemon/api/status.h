/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the daemon at one moment, and as the reply of GetStatus. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "daemon/archive/archive.h"
#include "daemon/sampler/sampler.h"
#include "daemon/store/store.h"
#include "daemon/varlink/server-settings.h"

#define STATUS_MAX_PROBLEMS 8

struct status {
	uint64_t started_us; /* CLOCK_REALTIME */
	bool running;        /* something is sampled */
	struct sampler_probe probe;
	char why_not[512];  /* nothing is sampled */
	uint64_t frequency; /* 0: a period was set instead */
	struct sampler_counts samples;
	struct archive_status archive;
	struct store_status store;
	uint64_t max_bytes, window_us;
	struct server_counts server;
	size_t unnamed_objects;
	char problems[STATUS_MAX_PROBLEMS][512];
	size_t n_problems;
};

/* Adds a problem, unless @text is empty or there is no room. */
void status_add_problem(struct status *status, const char *text);

/* A new object, or NULL for want of memory. Reads what this process used so far, too. */
json_t *status_json(const struct status *status, bool privileged);
