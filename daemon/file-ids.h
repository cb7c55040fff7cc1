/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The build-ids of mapped files, each file read once. For one look through /proc, during which no
 * inode gets another file.
 */
#pragma once

#include "common/record/event.h"
#include "common/util/macro.h"

struct file_ids;

int file_ids_new(struct file_ids **ret);
struct file_ids *file_ids_free(struct file_ids *ids);
DEFINE_CLEANUP(struct file_ids *, file_ids_free);

/*
 * Puts the build-id into @mapping of process @pid in the place of device and inode, as the kernel
 * does in its records; without one they stay. 0 or -ENOMEM.
 */
int file_ids_fill(struct file_ids *ids, int32_t pid, struct mapping_event *mapping);
