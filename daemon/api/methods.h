/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods of io.branchd (io.branchd.varlink), for the server to serve. */
#pragma once

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/api/query-limits.h"
#include "daemon/api/status.h"
#include "daemon/archive/archive.h"
#include "daemon/varlink/server-settings.h"

struct methods;

struct methods_settings {
	sd_event *event;
	struct archive *archive;                                /* which they listen to, borrowed */
	void (*cut)(void *userdata);                            /* see query_queue_settings */
	void (*get_status)(struct status *ret, void *userdata); /* fills in what is zero */
	/* Whether short-lived processes are to stay apart in windows; NULL: nobody is told. */
	void (*keep_processes)(bool keep, void *userdata);
	struct query_limits limits; /* see query-limits.h; zeros: the defaults */
	void *userdata;
};

int methods_new(struct methods **ret, const struct methods_settings *settings);
/* After the server, whose calls they keep. */
struct methods *methods_free(struct methods *methods);
DEFINE_CLEANUP(struct methods *, methods_free);

/* Sets interface, description, methods, userdata and turns. */
void methods_fill_settings(struct methods *methods, struct server_settings *settings);
