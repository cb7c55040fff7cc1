/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A scan of /proc: reports the processes, threads and mappings that exist, as the events that the
 * kernel sends when they begin. These events have no time.
 */
#pragma once

#include "common/record/event.h"
#include "daemon/opener/opener.h"
#include "daemon/sampler/mappings.h"

/* The mappings of processes that have not had their turn by then are not reported. */
#define PROC_SCAN_MAX_US 3000000

typedef int (*proc_scan_handler)(const struct event *event, void *userdata);

/* Ends at the first negative answer of @handler, and returns it. 0 or another -errno. */
int proc_scan_run(struct opener *opener, const struct mappings *mappings, proc_scan_handler handler,
		  void *userdata);
