/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Messages between the processes of branchd: a type, bytes, and open descriptors, over a stream
 * socket. The two ends are of one build and one machine, so structs travel as they are.
 *
 * A receiver trusts nothing: it says how many bytes it takes, and by when. Whoever gets an error
 * closes the connection, because what follows in the stream is unknown.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

#define CHANNEL_FDS_MAX     8
#define CHANNEL_NO_DEADLINE UINT64_MAX

struct channel_message {
	uint32_t type;
	uint32_t n_fds;
	void *bytes; /* received: of the heap, NULL if there are none; sent: borrowed */
	size_t n_bytes;
	int fds[CHANNEL_FDS_MAX]; /* received: owned; sent: borrowed */
};

/*
 * Sends @message by @deadline_ns of CLOCK_MONOTONIC. 0; -ETIMEDOUT; -EPIPE if the other end was
 * closed; -EMSGSIZE for more than 4 GiB; or the error of sending.
 */
int channel_send(int fd, const struct channel_message *message, uint64_t deadline_ns);

/*
 * Receives a message of at most @max_bytes, likewise. 0 and *@ret, which channel_message_done()
 * releases; -ETIMEDOUT; -EPIPE if the other end was closed; -EMSGSIZE for a longer message;
 * -EBADMSG if it does not have the descriptors that it announces; -ENOMEM; or another -errno.
 */
int channel_receive(int fd, size_t max_bytes, uint64_t deadline_ns, struct channel_message *ret);

/* Frees the bytes of a received message, and closes those descriptors that are not -1. */
void channel_message_done(struct channel_message *message);

/* Takes descriptor @i out of a received message; -1 if there is none. */
int channel_message_take_fd(struct channel_message *message, size_t i);

/* The deadline @after_us from now. */
uint64_t channel_deadline(uint64_t after_us);
