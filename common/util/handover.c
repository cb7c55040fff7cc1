/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/handover.h"

#include <errno.h>
#include <unistd.h>

static void replace(struct handover *handover, int fd)
{
	int before = atomic_exchange(&handover->fd, fd + 1) - 1;

	if (before >= 0)
		close(before);
}

void handover_put(struct handover *handover, int fd)
{
	replace(handover, fd);
}

int handover_take(struct handover *handover)
{
	int fd = atomic_exchange(&handover->fd, 0) - 1;

	return fd < 0 ? -ENOENT : fd;
}

void handover_done(struct handover *handover)
{
	replace(handover, -1);
}
