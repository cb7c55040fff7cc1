/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What branchd keeps on disk between starts about executables and libraries, a file for each, in
 * one directory. It is found by the file it was made from, as long as that is unchanged, or by the
 * build-id. It only saves time: it may be removed whenever branchd does not run, and no
 * error of it is an error of its user. What cannot be read is made again, and what cannot be
 * written is missing.
 *
 * A build-id is what a file says of itself, so only what was made from trusted files may be put
 * here, and only trusted files may get it: see file-identity.h.
 *
 * The files together have a limit; those that were used least recently go first. The time of a
 * file's last change is that of its last use.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/object/build-id.h"
#include "common/util/file-identity.h"
#include "common/util/macro.h"
#include "daemon/kept/kept-write.h"

#define KEPT_FILES_MAX_BYTES (256ull << 20)
#define KEPT_FILES_MAX_FILES 4096

struct kept_files;

struct kept_files_settings {
	const char *directory; /* made if it is missing; nobody else may own it or write to it */
	const char *suffix;    /* of the files, borrowed; at most eight bytes */
	size_t max_file_bytes; /* a larger one is not written, or damaged */
	uint64_t max_bytes;    /* 0: KEPT_FILES_MAX_BYTES */
	size_t max_files;      /* 0: KEPT_FILES_MAX_FILES */
};

struct kept_files_counts {
	uint64_t found;        /* those that were there when they were needed */
	uint64_t built;        /* those that were put here */
	uint64_t damaged;      /* files that were removed because they were damaged */
	uint64_t not_written;  /* for which there was no room, or that met an error */
	uint64_t files, bytes; /* now */
};

/* 0; -EPERM if others may write to the directory; or another -errno. */
int kept_files_open(struct kept_files **ret, const struct kept_files_settings *settings);
struct kept_files *kept_files_free(struct kept_files *kept);
DEFINE_CLEANUP(struct kept_files *, kept_files_free);

/*
 * Reads the @n bytes of a file, aligned as by malloc(), of the object with build-id @id: 0;
 * -EBADMSG if it is damaged; -ESTALE if another version wrote it; -ENOMEM.
 */
typedef int (*kept_files_reader)(const void *bytes, size_t n, const struct build_id *id,
				 void *userdata);

/*
 * What is kept about a trusted file. @id: its build-id; NULL: not known. @file: NULL if there is
 * none, as for the running kernel. 1 if @reader has read it; 0 if it is not there; -ENOMEM.
 */
int kept_files_get(struct kept_files *kept, const struct build_id *id,
		   const struct file_identity *file, kept_files_reader reader, void *userdata);

/* Keeps it, if it can, in place of others of the file or with the build-id. @file: as above. */
void kept_files_put(struct kept_files *kept, const struct build_id *id,
		    const struct file_identity *file, const struct kept_content *content);

/* Where the files are, borrowed. */
int kept_files_directory(const struct kept_files *kept);

/* Any thread may call it. */
void kept_files_get_counts(const struct kept_files *kept, struct kept_files_counts *ret);
