/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes that wait to be sent on a socket: a queue of pieces that are never copied. */
#pragma once

#include <stddef.h>

struct outbox_piece {
	char *bytes;
	size_t n;
};

struct outbox {
	struct outbox_piece *pieces;
	size_t first, n_pieces, cap_pieces;
	size_t n_sent;  /* of the first piece */
	size_t n_bytes; /* that wait */
};

void outbox_done(struct outbox *outbox);

/* Makes room for @n pieces more, so that adding them cannot fail. 0 or -ENOMEM. */
int outbox_reserve(struct outbox *outbox, size_t n);

/* Adds a heap buffer, which it takes over, in room reserved. */
void outbox_add(struct outbox *outbox, char *bytes, size_t n);

/* Sends what the socket takes without waiting, about a MiB at most; n_bytes is what is left. 0 or
 * -errno. */
int outbox_send(struct outbox *outbox, int fd);
