/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers that are wrong on purpose. */
#pragma once

#include "common/channel/channel.h"

/* From now on answers are forged in way @way: a name of forgery.c, or "random" with a seed. */
void forgery_begin(const char *way, const char *seed);

/*
 * Sends @message by @send, forged if that has begun. A forged table is one with a row and a name.
 */
int forgery_send(int (*send)(int fd, const struct channel_message *message, uint64_t deadline_ns),
		 int fd, const struct channel_message *message, uint64_t deadline_ns);
