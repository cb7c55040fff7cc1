/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.varlink.service, which every Varlink service has; and dispatching a call to its method. */
#pragma once

#include "daemon/varlink/call.h"
#include "daemon/varlink/server-settings.h"

/*
 * Serves @call by one of the methods of @settings or of org.varlink.service, or replies that there
 * is no such method. Returns what the method returns.
 */
int service_handle(const struct server_settings *settings, struct call *call);
