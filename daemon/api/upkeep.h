/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vacuum and Verify: the upkeep of the database, as a privileged caller asks for it. One of each at
 * a time. Vacuuming is pieces of some ms on the event loop, which rests as long after each;
 * verifying is a thread. Both end when their caller goes.
 */
#pragma once

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/store/store.h"
#include "daemon/varlink/call.h"

/* Verifying ends after this time, whole or not: its transactions keep the log from being copied. */
#define UPKEEP_MAX_VERIFY_US (600 * 1000000ULL)

struct upkeep;

/* Both borrowed. 0 or -ENOMEM. */
int upkeep_new(struct upkeep **ret, sd_event *event, struct store *store);
struct upkeep *upkeep_free(struct upkeep *upkeep);
DEFINE_CLEANUP(struct upkeep *, upkeep_free);

/* Each takes up a call: what a server_handler returns. */
int upkeep_vacuum(struct upkeep *upkeep, struct call *call);
int upkeep_verify(struct upkeep *upkeep, struct call *call);
