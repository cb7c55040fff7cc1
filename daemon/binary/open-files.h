/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of programs mapped lately, kept open for a while.
 *
 * The collector sees a file when it is mapped; the main thread wants its symbols when the window
 * closes. By then the process may be gone, and with it what led to the file: a container's root, or
 * a name since removed.
 *
 * This is the one thing that both threads use besides the queue of windows. Any of them may call
 * any function; a lock is held for a look-up each time, never while a file is opened, read or
 * closed.
 *
 * A file kept here keeps its space on the disk, and the file system it is on from being unmounted:
 * so they are few, and not kept for longer than they may be wanted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"

/* As in struct profile_object: what is not known is 0, and where the build-id is known, the rest
 * is. */
struct open_file_key {
	uint64_t inode;
	uint32_t major, minor;
	uint32_t n_build_id;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
};

struct open_files;

/* Of at most @max_files, or a quarter of the descriptors that this process may have. 0 or -ENOMEM.
 */
int open_files_new(struct open_files **ret, size_t max_files);
struct open_files *open_files_free(struct open_files *files);
DEFINE_CLEANUP(struct open_files *, open_files_free);

/* Keeps a duplicate of @fd, in the place of the one seen longest ago where there is no room; or
 * sees it again. */
void open_files_add(struct open_files *files, const struct open_file_key *key, int fd);

/* Another descriptor of the file, which is the caller's; or -ENOENT, or another -errno. */
int open_files_open(struct open_files *files, const struct open_file_key *key);

/* Closes those last seen at least @age_us ago: 0 for all. */
void open_files_drop(struct open_files *files, uint64_t age_us);
