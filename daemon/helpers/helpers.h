/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections to the helpers. Each connection has a process of its own, which ends when it is
 * closed. With systemd the helpers have sockets in a directory, and systemd starts them with their
 * privileges; else the launcher does.
 */
#pragma once

#include <stdint.h>

#include "common/util/macro.h"
#include "daemon/launcher/helper-kind.h"

struct helpers;

struct helper_counts {
	uint64_t connected; /* connections made: processes started */
	uint64_t refused;   /* attempts that failed */
	uint64_t failed;    /* connections whose helper died, hung, or sent nonsense */
};

/*
 * @directory has the sockets "opener", "parser" and "events". NULL: forks the launcher, so the
 * process must not have threads yet. -errno
 */
int helpers_new(struct helpers **ret, const char *directory);

/* Without the launcher its helpers end, too. */
struct helpers *helpers_free(struct helpers *helpers);
DEFINE_CLEANUP(struct helpers *, helpers_free);

/*
 * A stream socket to a new process of @kind, for channel.h; the caller closes it. Any thread may
 * call this. It takes milliseconds, at most some seconds. -ENOENT or -ECONNREFUSED: the helper
 * is not installed or not started; or another -errno. A helper that cannot run closes the
 * connection: then the first message fails with -EPIPE.
 */
int helpers_connect(struct helpers *helpers, enum helper_kind kind);

/* To be called when a helper died, hung, or sent nonsense. Any thread. */
void helpers_count_failure(struct helpers *helpers, enum helper_kind kind);

void helpers_get_counts(const struct helpers *helpers, enum helper_kind kind,
			struct helper_counts *ret);
