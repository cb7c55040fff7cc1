/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window as a profile, for servers that take these over HTTP: Pyroscope's /ingest, OTLP. */
#pragma once

#include <stdio.h>

#include "client/rpc/windows.h"
#include "common/profile/profile.h"
#include "ship/format.h"

/* Writes the stacks of the finalized @profile; nothing if it has none. -ENOMEM. */
int as_profile_write(struct profile *profile, const struct window_info *window, const char *host,
		     enum format format, FILE *f);
