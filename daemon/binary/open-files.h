/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files of recently mapped programs, kept open for a while.
 *
 * The collector sees a file when it is mapped; the main thread needs its symbols when the window
 * closes. By then the process may have ended, and the way to the file with it: a container's root,
 * or a name that was removed.
 *
 * Both threads use this table, besides the queue of windows. Either may call any function. A lock
 * is held during each look-up, never while a file is opened, read or closed.
 *
 * An open file occupies disk space after its removal, and keeps its file system mounted. So the
 * table is small, and files leave it as soon as no window can need them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"

/* As in struct profile_object: unknown fields are 0; if the build-id is known, all others are 0. */
struct open_file_key {
	uint64_t inode;
	uint32_t major, minor;
	uint32_t n_build_id;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
};

struct open_files;

/* Holds at most @max_files, and at most a quarter of RLIMIT_NOFILE. 0 or -ENOMEM. */
int open_files_new(struct open_files **ret, size_t max_files);
struct open_files *open_files_free(struct open_files *files);
DEFINE_CLEANUP(struct open_files *, open_files_free);

/* Keeps a duplicate of @fd, or marks the file as seen now. A full table drops the file that was
 * seen longest ago. */
void open_files_add(struct open_files *files, const struct open_file_key *key, int fd);

/* Another descriptor of the file, owned by the caller; -ENOENT or another -errno. */
int open_files_open(struct open_files *files, const struct open_file_key *key);

/* Closes the files that were last seen at least @age_us ago; 0: all. */
void open_files_drop(struct open_files *files, uint64_t age_us);
