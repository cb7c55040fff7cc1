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

/*
 * Whether the owner of a file on device @device, that of mappings, says who wrote it: not on media
 * that users bring along, whose files have the owners that they like. An administrator mounts these
 * nosuid, and so do the services that mount them for users.
 */
bool file_system_has_true_owners(dev_t device);

/* Whether process 1 sees a file system of this device. */
bool file_system_is_mounted(dev_t device);
