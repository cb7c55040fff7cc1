/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What travels between branchd and branchd-opener, by common/channel. The opener says once that it
 * is ready, with OPENER_READY: to start a process takes time that is no file's fault. Then the
 * client asks, and the opener answers each request in turn with OPENER_REPLY: a struct
 * opener_reply, and the descriptor if error is 0; the reply to OPENER_MAPS has the path of the
 * executable after it.
 */
#pragma once

#include <stdint.h>

#include "common/util/file-identity.h"

#define OPENER_MAX_BYTES 8192 /* of a message */

enum opener_message {
	OPENER_OPEN = 1, /* struct opener_request, path */
	OPENER_MAPS,     /* struct opener_request, of which only the pid counts */
	OPENER_REPLY,
	OPENER_READY, /* empty */
	OPENER_JIT,   /* struct opener_request, of which pid, uid, age and remote count */
};

/* Followed by a path, with its NUL. */
struct opener_request {
	uint64_t start, end; /* both 0: unknown */
	uint64_t inode;
	uint64_t age_us; /* the process is this old at least */
	uint32_t major, minor;
	int32_t pid;
	uint32_t remote; /* 1: also from network file systems and FUSE */
	uint32_t uid;    /* whose file it must be, unless it is root's */
	uint32_t unused;
};

/* Followed by a path, with its NUL. */
struct opener_reply {
	struct file_identity identity;
	int32_t error; /* 0 or -errno */
};
