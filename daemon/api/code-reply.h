/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GetCode: replies with machine code that the store has kept. */
#pragma once

#include "daemon/store/store.h"
#include "daemon/varlink/call.h"

/* What a server_handler returns. */
int code_reply(struct call *call, struct store *store);
