/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the daemon keeps its files: in directories that systemd made, the user chose, or usual. */
#pragma once

#include "common/util/fault.h"

#define DIRECTORIES_STATE "/var/lib/branchd"

/* Makes a directory, but not its parents. 0, also if it is there; or -errno. */
int directories_make(const char *path, unsigned int mode, struct fault *fault);

/*
 * The path of the database, in the state directory, which is made: @option, what the user chose, or
 * systemd's, or the usual one. For the caller to free. 0 or -errno.
 */
int directories_find_database(const char *option, char **ret, struct fault *fault);

/* The directory for unwind tables, in systemd's cache directory, or in the state directory. It may
 * not exist. For the caller to free. 0 or -ENOMEM. */
int directories_find_tables(const char *option, char **ret);
