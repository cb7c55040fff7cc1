/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Below which paths of processes are resolved. */
#pragma once

#include <stdint.h>

/* An O_PATH descriptor of the root directory of @pid, or -errno. */
int root_directory_open(int32_t pid);

/*
 * That of process 1, whose paths are those of this machine: branchd-opener may have mounts of its
 * own. Where nobody may follow it, as in some containers, that of this process.
 */
int root_directory_open_first(void);
