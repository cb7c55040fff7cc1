/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The server: Varlink on a Unix socket (https://varlink.org), NUL-terminated JSON messages on the
 * event loop of the main thread. It knows calls, replies and limits; a table in the settings says
 * what the methods do.
 */
#pragma once

#include <sys/types.h>

#include <systemd/sd-event.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/varlink/server-settings.h"

struct server;

/* Serves the listening socket @fd (-1: none), which it takes over in any case. */
int server_new(struct server **ret, sd_event *event, int fd, const struct server_settings *settings,
	       struct fault *fault);
struct server *server_free(struct server *server);
DEFINE_CLEANUP(struct server *, server_free);

/* Serves the connected socket @fd, which it takes over in any case. 0 or -errno. */
int server_add_connection(struct server *server, int fd);

/* Makes and binds a socket of mode 0660 and @group. A file descriptor, or -errno and @fault. */
int server_listen(const char *path, gid_t group, struct fault *fault);

void server_get_counts(const struct server *server, struct server_counts *ret);
