/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The launcher: where systemd does not start the helpers, a child of branchd does. It is forked
 * before branchd gives up its privileges and before it has threads, and ends with branchd. Each
 * helper gets its own capabilities, if the launcher has them; the parser also becomes another user,
 * if the launcher may change it, and gets a low priority. A helper's standard input is its
 * connection.
 */
#pragma once

#include "daemon/launcher/helper-kind.h"

/* Forks the launcher. The connection to it, or -errno. */
int launcher_start(void);

/*
 * Has the launcher of connection @fd start a helper. The connection to the helper; -ENOENT if its
 * program is not found; -EPIPE if the launcher has ended; or another -errno. One call at a time.
 */
int launcher_request(int fd, enum helper_kind kind);
