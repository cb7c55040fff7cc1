/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What branchd-ship --status shows: a file that the service writes, one object of JSON. */
#pragma once

#include "common/util/fault.h"
#include "ship/sender.h"
#include "ship/spool.h"

/* Replaces the file. -errno. */
int status_write(const char *path, const struct spool_totals *spool,
		 const struct sender_totals *sender);

/* Prints it, for people or as it is. -errno and @fault. */
int status_print(const char *path, bool json, struct fault *fault);
