/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon's socket on this machine. */
#pragma once

#include "common/util/fault.h"

#define UNIX_SOCKET_DEFAULT_PATH "/run/branchd/io.branchd"

/* *@ret is connected, close-on-exec and non-blocking. -errno and @fault, which says how to start
 * the daemon or how to get access. */
int unix_socket_connect(int *ret, const char *path, struct fault *fault);
