/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection of the server: receives calls, has them served one after the other, sends replies.
 *
 * It never waits. Each turn of the event loop it does one piece of work: one read, or one call, or
 * one write, so that many connections share the loop fairly. A next call is taken up only when
 * the reply before is nearly sent; until then nothing more is read, and the kernel's buffer fills
 * up at the caller's end.
 */
#pragma once

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/varlink/outbox.h"
#include "daemon/varlink/peer.h"
#include "daemon/varlink/server.h"

struct connection;
struct call;

/* Of all event sources here: behind the collector's windows and signals. */
#define SERVER_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

/* What it shares with all others of its server, which owns it. */
struct connections {
	sd_event *event;
	struct server_settings settings; /* without zeros */
	struct server_counts counts;
	struct connection *first;
};

/* Takes @fd over in any case; it is freed when the peer goes, or by its server. */
int connection_new(struct connections *all, int fd, const struct peer *peer);
struct connection *connection_free(struct connection *connection);
DEFINE_CLEANUP(struct connection *, connection_free);

unsigned int connection_count_of(const struct connections *all, uid_t uid);

/*
 * Queues all @pieces or none; their memory is taken over in any case. 0, also where the peer has
 * gone; -ENOBUFS if too much waits already; -ENOMEM.
 */
int connection_send(struct connection *connection, const struct outbox_piece *pieces, size_t n);

/* The call in service has had its last reply. */
void connection_end_call(struct connection *connection);

/* It will be closed and freed by the event loop; what is sent until then goes nowhere. */
void connection_kill(struct connection *connection);

void connection_count_error(struct connection *connection);
const char *connection_interface(const struct connection *connection);
const struct peer *connection_peer(const struct connection *connection);
