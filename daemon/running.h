/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What runs already: the processes, threads and mappings that /proc shows, told as the events that
 * the kernel would have told, had one listened from the start. They have no time.
 */
#pragma once

#include "common/record/event.h"
#include "daemon/file-ids.h"

typedef int (*running_handler)(const struct event *event, void *userdata);

/* The first negative answer of @handler ends it and is passed on; so does -ENOMEM. */
int running_tell(struct file_ids *file_ids, running_handler handler, void *userdata);
