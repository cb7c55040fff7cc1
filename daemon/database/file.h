/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store's file: locking it, making it, converting one of the version before, and moving an
 * unusable one out of the way.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "daemon/database/database.h"

/*
 * Makes this process the only one that writes to the store at @path, by a lock on a file beside it:
 * SQLite's own locks do not last from one transaction to the next. A file descriptor to keep open,
 * or -errno and @fault; -EBUSY: another process has the lock.
 */
int store_file_lock(const char *path, struct fault *fault);

/*
 * Opens the database. Makes its tables if it is empty, and converts it if it is of the version
 * before this one; @ret_converted is that version, or 0. -EBADMSG and @fault: it is damaged, of
 * another version, or not of branchd.
 */
int store_file_open(struct database **ret, const char *path, int64_t *ret_converted,
		    struct fault *fault);

/*
 * Opens one that cannot be written, of this version: see database_open_to_read(). 0, or -errno and
 * @fault.
 */
int store_file_open_to_read(struct database **ret, const char *path, struct fault *fault);

/* Renames the closed database and its log; @ret_path is its new path. 0, or -errno and @fault. */
int store_file_move_away(const char *path, char *ret_path, size_t n_path, struct fault *fault);
