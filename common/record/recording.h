/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording: a file that `perf record` wrote, read as events in the order of time.
 *
 * Any shape of it: normal or pipe mode, compressed, of old and of newer kernels than this program
 * knows. What cannot be mapped into memory (a pipe) is spooled to an unnamed temporary file first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "common/record/event.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct recording;

/* What the file says of itself; strings are NULL and numbers 0 where it does not. */
struct recording_info {
	const char *hostname, *os_release, *cpu, *cpuid;
	uint32_t n_cpus; /* that were on line */
	uint32_t depth;  /* branch rows the hardware holds: "branches=N" */
};

/* What got lost because the file is damaged; see recording_forced(). */
struct recording_damage {
	uint64_t offset;       /* where the first unreadable byte is */
	uint64_t n_bytes_lost; /* from there to the end of the records */
	struct fault fault;
};

/*
 * Opens the file at @path. -errno and @fault, which names the file, and the offset of what is wrong
 * in it. With @force damage after the first sound record is no error: reading ends there.
 */
int recording_open(struct recording **ret, const char *path, bool force, struct fault *fault);
struct recording *recording_free(struct recording *recording);
DEFINE_CLEANUP(struct recording *, recording_free);

const struct recording_info *recording_info(const struct recording *recording);

/*
 * Whether the kernel emptied the branch record at each switch of tasks: Linux before 6.15 does so
 * of events that belong to no task. False where the file does not tell.
 */
bool recording_is_wiped(const struct recording *recording);

/* The perf events recorded: the sources of its events. The name is never NULL. */
size_t recording_n_sources(const struct recording *recording);
const struct perf_event_attr *recording_attr(const struct recording *recording, uint32_t source);
const char *recording_source_name(const struct recording *recording, uint32_t source);

/*
 * The next event: 1 and *@ret, valid until the next call (rows that stay, as long as the
 * recording is open); 0 at the end; -EBADMSG and @fault where the
 * file is damaged; -ENOMEM.
 */
int recording_next(struct recording *recording, struct event *ret, struct fault *fault);

/* How far it is: bytes of records read and in all. For a progress bar. */
void recording_progress(const struct recording *recording, uint64_t *ret_done, uint64_t *ret_all);

/* Records that came too late to be put in their place in time. */
uint64_t recording_n_out_of_order(const struct recording *recording);

/* With force: the damage met, or NULL. After the last event. */
const struct recording_damage *recording_forced(const struct recording *recording);
