/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* KeepProcesses: while somebody calls it, processes that come and go in a window stay apart. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/varlink/call.h"

struct keep_processes {
	void (*changed)(bool any, void *userdata); /* whether anybody calls it now; or NULL */
	void *userdata;
	size_t n; /* calls */
};

/* Takes up a call: what a server_handler returns. @keep outlives the call. */
int keep_processes_add(struct keep_processes *keep, struct call *call);
