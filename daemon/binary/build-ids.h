/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The build-ids of mapped files, each file read once: as long as the time of its last change and
 * its size tell that it is the same.
 *
 * The kernel could tell them itself (perf_event_attr.build_id), but where one event asks for that,
 * it marks the records of other people's events as well, in which there are none (up to 6.18 at the
 * least: perf_event_mmap_output() leaves the bit in the header that all share), and perf record
 * dies of it.
 */
#pragma once

#include "common/record/event.h"
#include "common/util/macro.h"
#include "daemon/binary/open-files.h"

struct build_ids;

int build_ids_new(struct build_ids **ret);
struct build_ids *build_ids_free(struct build_ids *ids);
DEFINE_CLEANUP(struct build_ids *, build_ids_free);

/* The files that are opened from now on are kept in @open_files, which outlives this. */
void build_ids_keep_open(struct build_ids *ids, struct open_files *open_files);

/*
 * Puts the build-id, also the vdso's, into @mapping of process @pid in the place of device and
 * inode, as the kernel would; without one, or where the file is not to be had any more, they stay.
 * 0 or -ENOMEM.
 */
int build_ids_fill(struct build_ids *ids, int32_t pid, struct mapping_event *mapping);
