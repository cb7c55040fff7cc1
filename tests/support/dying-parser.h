/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A parser that dies before it answers. */
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include "common/channel/channel.h"
#include "common/parser/message.h"

/* For parser_settings.connect. */
static inline int connect_to_the_dying(uint32_t owner, void *userdata)
{
	const struct channel_message hello = { .type = PARSER_HELLO };
	static int last = -1;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(channel_send(ends[1], &hello, channel_deadline(0)), 0);
	/* it still receives what comes before the greeting */
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	if (last >= 0)
		close(last);
	last = ends[1];
	return ends[0];
}
