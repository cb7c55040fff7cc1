/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a file is the one that a mapping was reported of: its inode number alone says little. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "daemon/opener/messages.h"

/*
 * Whether the kernel shows a mapping of the file at @fd, which is open for reading, with the device
 * and inode of @request. @trusted: root owns it, see file-identity.h.
 */
bool same_file(int fd, const struct stat *st, bool trusted, const struct opener_request *request);
