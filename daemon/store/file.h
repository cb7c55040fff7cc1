/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store's file: whose it is, whether it is one of ours, making it, and moving aside what is
 * not.
 */
#pragma once

#include <stddef.h>

#include "common/util/fault.h"
#include "daemon/store/database.h"

#define STORE_APPLICATION_ID 0x62726e64 /* "brnd"; schema.sql has these, too */
#define STORE_VERSION        4

/*
 * Makes this process the only one that writes to the store at @path: a lock on a file beside it,
 * as those of SQLite do not last from one transaction to the next. A file descriptor to keep open,
 * or -errno and @fault; -EBUSY: somebody else is that one.
 */
int store_file_lock(const char *path, struct fault *fault);

/*
 * Opens the database and makes its tables if it is empty. -EBADMSG and @fault: it is damaged, of
 * another version, or not one of ours.
 */
int store_file_open(struct database **ret, const char *path, struct fault *fault);

/* Renames the closed database and what belongs to it; @ret_path is its new one. -errno and @fault.
 */
int store_file_set_aside(const char *path, char *ret_path, size_t n_path, struct fault *fault);
