/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file in which a process names the functions that it compiles: /tmp/perf-PID.map, as the
 * process sees the folder, and with the pid that it has in its own namespace. Of one that has ended
 * it is the file that process 1 sees, see root_directory_open_first().
 *
 * Anybody may put a file there, so its owner must be the process's user or root. The process may
 * have mounted a file of root's there: that must be one that everybody may read.
 */
#pragma once

#include <stdint.h>

#include "common/util/file-identity.h"
#include "daemon/opener/messages.h"

/*
 * A descriptor and *@ret; -ENOENT; -EPERM: the file is of another user; -ESTALE: it was written
 * before the process began; -ENOEXEC, -EREMOTE: as open_file(); or another -errno.
 */
int open_jit_map(const struct opener_request *request, struct file_identity *ret);
