/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The build-ids of mapped files. Each file is read once, and again when its size or the time of its
 * last change differs.
 *
 * The kernel can report build-ids itself (perf_event_attr.build_id). But once any event asks for
 * them, the kernel marks the records of all events as if they had build-ids, and perf record dies
 * of it (at least up to Linux 6.18: perf_event_mmap_output() leaves the bit in the shared header).
 */
#pragma once

#include "common/record/event.h"
#include "common/util/macro.h"
#include "daemon/binary/open-files.h"

struct build_ids;

int build_ids_new(struct build_ids **ret);
struct build_ids *build_ids_free(struct build_ids *ids);
DEFINE_CLEANUP(struct build_ids *, build_ids_free);

/* From now on, keeps the files that it opens in @open_files, which outlives this. */
void build_ids_keep_open(struct build_ids *ids, struct open_files *open_files);

/*
 * Replaces device and inode in @mapping of process @pid by the build-id, as the kernel would; also
 * for the vdso. A file that has no build-id, or that cannot be opened any more, keeps them. 0 or
 * -ENOMEM.
 */
int build_ids_fill(struct build_ids *ids, int32_t pid, struct mapping_event *mapping);
