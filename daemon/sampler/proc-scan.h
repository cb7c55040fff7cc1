/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What runs already: the processes, threads and mappings that /proc shows, told as the events that
 * the kernel would have told, had one listened from the start. They have no time.
 */
#pragma once

#include "common/record/event.h"
#include "daemon/binary/build-ids.h"

typedef int (*proc_scan_handler)(const struct event *event, void *userdata);

/* The first negative answer of @handler ends it and is passed on; so does -ENOMEM. */
int proc_scan_run(struct build_ids *build_ids, proc_scan_handler handler, void *userdata);
