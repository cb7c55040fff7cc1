/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file systems are on this machine alone, so that the kernel itself answers for them. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the file at @fd, on device @device, is on no network file system and not of FUSE. What
 * holds / or /usr counts as local: nothing here runs without it.
 */
bool file_system_is_local(int fd, dev_t device);
