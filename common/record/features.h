/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The feature sections of a recording: what it says of the machine, of the events' names, and of
 * the build-ids of the files it ran.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/record/event.h"
#include "common/record/perf-file.h"
#include "common/util/strings.h"

struct feature_name {
	const char *name;
	const uint64_t *ids; /* points into the section, unaligned; of the event of this name */
	size_t n_ids;
};

struct features {
	struct strings *strings; /* owns all strings here */
	const char *hostname, *os_release, *architecture, *cpu, *cpuid;
	uint32_t n_cpus, depth;
	struct feature_name *names; /* in the order of the events */
	size_t n_names, cap_names;
	struct build_id_event *build_ids;
	size_t n_build_ids, cap_build_ids;
};

int features_init(struct features *features);
void features_done(struct features *features);

/*
 * Reads section @feature of @n bytes at @p, which stay where they are as long as @features. A
 * section not known or broken is passed over: they describe, they do not count. 0 or -ENOMEM.
 */
int features_read(struct features *features, unsigned int feature, const void *p, size_t n);

/* One build-id entry, the record whose header is at @record. 0 or -ENOMEM; broken ones are passed
 * over. */
int features_read_build_id(struct features *features, const struct perf_event_header *record,
			   size_t n);
