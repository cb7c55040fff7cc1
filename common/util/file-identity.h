/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which file it is, and who may have written it. A build-id is only what a file says of itself:
 * the word of a trusted file is believed everywhere, that of another file for this file alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct file_identity {
	uint32_t major, minor;
	uint64_t inode;
	int64_t ctime_ns; /* of the last change, of its bytes or its owner */
	uint64_t n_bytes;
	uint32_t uid; /* its owner */
	bool trusted; /* root owns it, nobody else may write it, and the kernel says so itself */
};

/* @local: the file system is not one that asks another machine or a user's program. */
void file_identity_fill(struct file_identity *ret, const struct stat *st, bool local);

/* Whether the same file is unchanged. */
bool file_identity_equal(const struct file_identity *a, const struct file_identity *b);
