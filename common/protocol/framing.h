/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages in a stream of bytes: each ends with a NUL. What was received goes in, in pieces of any
 * size; whole messages come out. It knows no sockets, so that server, client and fuzzer share it.
 *
 *   while ((r = framing_reserve(&f, &room, &n)) == 0 && (got = recv(fd, room, n, 0)) > 0) {
 *           framing_fill(&f, got);
 *           while (framing_next(&f, &message, &length))
 *                   ...
 *   }
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct framing {
	char *bytes;
	size_t cap;
	size_t start, end; /* what was received and not yet taken */
	size_t searched;   /* from start to here there is no NUL */
	size_t max_bytes;  /* of a message, without its NUL */
};

void framing_init(struct framing *framing, size_t max_bytes);
void framing_done(struct framing *framing);

/*
 * Room to receive into, at least one byte. 0; -ENOMEM; -EMSGSIZE if the message that has begun is
 * longer than allowed. What framing_next() gave is void.
 */
int framing_reserve(struct framing *framing, char **ret, size_t *ret_n);

/* The first @n bytes of that room were filled. */
void framing_fill(struct framing *framing, size_t n);

/*
 * The next whole message, which ends with a NUL that is not counted: 1 and *@ret, until the next
 * framing_reserve(); 0 if there is none yet; -EMSGSIZE if it is longer than allowed.
 */
int framing_next(struct framing *framing, char **ret, size_t *ret_n);

/* True if framing_next() would give something, an error included. */
bool framing_has_message(struct framing *framing);

/* True if a message has begun or waits. */
bool framing_holds_bytes(const struct framing *framing);
