/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A descriptor that one thread leaves for another. */
#pragma once

#include <stdatomic.h>

/* Zeroed: it has none. */
struct handover {
	atomic_int fd; /* one more than it */
};

/* Takes over @fd, and closes the one that nobody has taken. */
void handover_put(struct handover *handover, int fd);

/* The descriptor, which is the caller's; -ENOENT without one. */
int handover_take(struct handover *handover);

void handover_done(struct handover *handover);
