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
#include "common/record/recording-info.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct recording;

/* Opens the file at @path. -errno and @fault, which names the file and the offset of the damage.
 * With @force damage after the first valid record is no error: reading ends there. */
int recording_open(struct recording **ret, const char *path, bool force, struct fault *fault);
struct recording *recording_free(struct recording *recording);
DEFINE_CLEANUP(struct recording *, recording_free);

const struct recording_info *recording_info(const struct recording *recording);

/* Whether the kernel cleared the LBR at each task switch, as Linux before 6.15 does for events that
 * belong to no task. False where the file does not say. */
bool recording_is_wiped(const struct recording *recording);

/* The perf events recorded: the sources of its events. The name is never NULL. */
size_t recording_n_sources(const struct recording *recording);
const struct perf_event_attr *recording_attr(const struct recording *recording, uint32_t source);
const char *recording_source_name(const struct recording *recording, uint32_t source);

/* The next event: 1 and *@ret, valid until the next call (records that stay, until the recording is
 * closed); 0 at the end; -EBADMSG and @fault where the file is damaged; -ENOMEM. */
int recording_next(struct recording *recording, struct event *ret, struct fault *fault);

/* The progress: bytes of records read, and in all. */
void recording_progress(const struct recording *recording, uint64_t *ret_done, uint64_t *ret_all);

/* The number of records that came too late for their place in time. */
uint64_t recording_n_out_of_order(const struct recording *recording);

/* The number of records, read so far, of a kind or an event that this program does not know. They
 * may have been samples. */
uint64_t recording_n_unknown(const struct recording *recording);

/* With force: the damage found, or NULL. Valid after the last event. */
const struct recording_damage *recording_forced(const struct recording *recording);
