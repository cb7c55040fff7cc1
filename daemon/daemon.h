/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon: sampling, archive and server on one event loop, and the protocol of a systemd
 * service.
 */
#pragma once

#include <systemd/sd-event.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/helpers/helpers.h"

#define DAEMON_SOCKET "/run/branchd/io.branchd"
#define DAEMON_GROUP  "branchd"

struct daemon;

struct daemon_settings {
	const char *config;          /* read this file and its drop-ins only; NULL: the usual */
	const char *state_directory; /* NULL: systemd's, or the usual */
	const char *socket;          /* NULL: systemd's, or the usual */
	struct helpers *helpers;     /* outlives the daemon */
};

/* Reads the configuration, opens the store and listens. -errno and @fault. */
int daemon_new(struct daemon **ret, sd_event *event, const struct daemon_settings *settings,
	       struct fault *fault);

/* Stores the last window. */
struct daemon *daemon_free(struct daemon *daemon);
DEFINE_CLEANUP(struct daemon *, daemon_free);

/* Samples and serves until a signal, or until the event loop exits. That sampling is impossible is
 * a state, not a failure. -errno and @fault. */
int daemon_run(struct daemon *daemon, struct fault *fault);
