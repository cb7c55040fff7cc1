/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opens files of processes: the work of branchd-opener. A stranger chooses paths and files, so all
 * is looked at before it is opened, and may still hang: see main.c.
 */
#pragma once

#include <stdint.h>

#include "common/util/file-identity.h"
#include "daemon/opener/messages.h"

/*
 * Opens the file of @request, which a process knows as @path. A descriptor and *@ret; -ENOENT;
 * -ESTALE: it has another inode; -ENOEXEC: not a regular file; -EREMOTE: on another machine or of a
 * user's file system, and not wanted; or another -errno.
 */
int open_file(const struct opener_request *request, const char *path, struct file_identity *ret);
