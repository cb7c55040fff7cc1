/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.varlink.service, which every Varlink service has; and finding the method of a call. */
#pragma once

#include "daemon/varlink/server.h"

/*
 * Serves @call by one of the methods of @settings or of org.varlink.service, or replies that there
 * is none. What the method returns.
 */
int service_handle(const struct server_settings *settings, struct call *call);
