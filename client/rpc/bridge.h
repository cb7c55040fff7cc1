/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The other end of ssh.h: copies standard input to the daemon's socket, and its replies to standard
 * output. */
#pragma once

#include "common/util/fault.h"

/* The first word of the command line; a second one may be the path of the socket. */
#define BRIDGE_COMMAND "--stdio-bridge"

/* Ends when either side has closed. -errno and @fault. */
int bridge_run(const char *path, struct fault *fault);
