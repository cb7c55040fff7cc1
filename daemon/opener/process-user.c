/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The owner of /proc/PID is root where the process is not dumpable; its status tells the truth. */
#include "daemon/opener/process-user.h"

#include <errno.h>
#include <stdio.h>

#include "common/util/cleanup.h"

int64_t process_user(int32_t pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[256];
	unsigned int uid;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u", &uid) == 1)
			return uid;
	return -ESRCH;
}
