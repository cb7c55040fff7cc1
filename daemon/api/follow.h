/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ListWindows: all windows, and to callers who follow also each that closes later. */
#pragma once

#include "common/util/macro.h"
#include "daemon/archive/archive.h"
#include "daemon/varlink/call.h"
#include "daemon/window/window.h"

struct followers;

int followers_new(struct followers **ret, struct archive *archive);
struct followers *followers_free(struct followers *followers);
DEFINE_CLEANUP(struct followers *, followers_free);

/* Takes up a call: what a server_handler returns. */
int followers_add(struct followers *followers, struct call *call);

/* A window was closed. */
void followers_on_closed(struct followers *followers, const struct window *window);
