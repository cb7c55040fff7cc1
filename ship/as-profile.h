/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window as a profile of pprof, for servers that take these over HTTP (Pyroscope's /ingest). */
#pragma once

#include <stdio.h>

#include "client/rpc/windows.h"
#include "common/profile/profile.h"

/* Writes the stacks of the finalized @profile, compressed; nothing if it has none. -ENOMEM. */
int as_pprof_write(struct profile *profile, const struct window_info *window, const char *host,
		   FILE *f);
