/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client of branchd-opener, the process that opens files of other processes. Each client has a
 * connection and so a process of its own; one thread uses it.
 *
 * Opening may hang: in a file system whose server has stopped, or at a process that holds the lock
 * of its mappings. So each request has a deadline. What misses it is counted, its process is left
 * to its own alarm, and the next request gets a new one. The user whose process maps the file, or
 * the file system if that is root, is left alone for a while, the longer the more often it happens.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/file-identity.h"
#include "common/util/macro.h"

struct opener;

struct opener_settings {
	int (*connect)(void *userdata); /* a socket to a new process, or -errno */
	void *userdata;
	bool remote;                     /* also files of network file systems and FUSE */
	uint64_t patience_us;            /* for one request; 0: OPENER_PATIENCE_US */
	int64_t (*user_of)(int32_t pid); /* for tests; NULL: process_user() */
};

#define OPENER_PATIENCE_US  2000000
#define OPENER_MAX_MAPPINGS 16384

/* A file that a process maps, or did. */
struct opener_file {
	int32_t pid;
	const char *path;    /* as the process sees it, perhaps with " (deleted)" */
	uint64_t start, end; /* the addresses; both 0: unknown */
	uint32_t major, minor;
	uint64_t inode;
};

struct opener_counts {
	uint64_t opened;
	uint64_t failed;  /* gone, no regular file, not permitted */
	uint64_t remote;  /* refused: on a network file system or FUSE */
	uint64_t hung;    /* no answer in time, or the process ended */
	uint64_t skipped; /* not asked for: of a user or file system that hung */
};

/* 0 or -ENOMEM. It connects when it is first needed. */
int opener_new(struct opener **ret, const struct opener_settings *settings);
struct opener *opener_free(struct opener *opener);
DEFINE_CLEANUP(struct opener *, opener_free);

/*
 * Opens @file for reading: by its addresses, by its path as the process sees it, by its path as
 * process 1 sees it (see root_directory_open_first()). Only a regular file with the device and
 * inode of @file is opened. The descriptor and *@ret; or -ENOENT: not found; -ENOEXEC: not a
 * regular file; -EREMOTE: refused, see settings; -ETIMEDOUT: no answer; -EBUSY: its user or file
 * system is left alone for a while; or another -errno.
 */
int opener_open(struct opener *opener, const struct opener_file *file, struct file_identity *ret);

/*
 * A descriptor of a copy of /proc/@pid/maps, or -errno: the lines of executable memory, at most
 * OPENER_MAX_MAPPINGS of them. Fills @ret_executable of @n bytes with the target of /proc/@pid/exe;
 * "" if there is none.
 */
int opener_open_maps(struct opener *opener, int32_t pid, char *ret_executable, size_t n);

/* A process that compiles functions. */
struct opener_jit {
	int32_t pid;
	uint32_t uid;    /* its effective user */
	uint64_t age_us; /* it began at least that long ago; 0: unknown */
};

/*
 * Opens /tmp/perf-PID.map of @process: a regular file of its user or root. The descriptor and
 * *@ret; -EPERM: the file is of another user; -ESTALE: it is of an earlier process; or as
 * opener_open().
 */
int opener_open_jit(struct opener *opener, const struct opener_jit *process,
		    struct file_identity *ret);

/* Any thread may call it. */
void opener_get_counts(const struct opener *opener, struct opener_counts *ret);
