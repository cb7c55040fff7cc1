/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Has the store merge and remove windows that have aged: a step at a time on the event loop, with
 * pauses in which queries are answered.
 */
#pragma once

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/store/store.h"

struct roller;

/* Borrows @store. 0 or -errno. */
int roller_new(struct roller **ret, sd_event *event, struct store *store);
struct roller *roller_free(struct roller *roller);
DEFINE_CLEANUP(struct roller *, roller_free);
