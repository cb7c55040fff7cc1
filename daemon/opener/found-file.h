/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that was found and is not opened yet: an O_PATH descriptor, which acts on nothing. */
#pragma once

#include <sys/stat.h>

#include "common/util/file-identity.h"
#include "daemon/opener/messages.h"

/* Whether a regular file is wanted, by its state: 0 or -errno. */
typedef int (*found_file_check)(const struct stat *st, const struct opener_request *request);

/*
 * Opens for reading what @found, an O_PATH descriptor or -errno, refers to. Takes @found. A
 * descriptor, its state and its identity; -ENOEXEC: not a regular file; -EREMOTE: on another
 * machine or of a user's file system, and not wanted; what @check says; or another -errno.
 */
int found_file_open(int found, const struct opener_request *request, found_file_check check,
		    struct stat *ret_st, struct file_identity *ret);
