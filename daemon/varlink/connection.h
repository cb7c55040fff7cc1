/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection of the server: receives calls, has them served one after the other, sends replies.
 *
 * It never waits. Each turn of the event loop it does one piece of work: one read, one call or one
 * write, so that many connections share the loop fairly. It takes up the next call only when the
 * reply before is nearly sent; until then it reads nothing, and the kernel's buffer fills up at the
 * caller's end.
 */
#pragma once

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/varlink/peer.h"
#include "daemon/varlink/server-settings.h"

struct connection;
struct turns;

/* What the connections of a server share; it belongs to the server. */
struct connections {
	sd_event *event;
	struct turns *turns;
	struct server_settings settings; /* the limits without zeros */
	struct server_counts counts;
	struct connection *first;
};

/* Takes @fd over in any case. It is freed when the peer goes, or by its server. 0 or -errno. */
int connection_new(struct connections *all, int fd, const struct peer *peer);
struct connection *connection_free(struct connection *connection);
DEFINE_CLEANUP(struct connection *, connection_free);

unsigned int connection_count_of(const struct connections *all, uid_t uid);
